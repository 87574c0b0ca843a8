// With Jest 30: `NODE_OPTIONS=--experimental-vm-modules npx jest --testMatch '**/*.jest.mjs'`.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestCluster } from 'rollkeeper/testing';

/** @type {import('rollkeeper/testing').TestCluster} */
let cluster;
beforeAll(async () => {
  cluster = await startTestCluster({ manifests: [new URL('shop.yaml', import.meta.url)] });
}, 30_000);
afterAll(() => cluster?.stop());

test('the shop has three pods that are ready', async () => {
  const web = await cluster.waitFor('shop/deployment/web', ({ status } = {}) => status?.readyReplicas === 3);
  expect(web.spec.template.spec.containers[0].image).toBe('shop/web:1.0.0');
});
