import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { RedisStorage } from '../../src/apiserver/index.js';
import { aDeployment, podBody, startApiServer } from './api-server-harness.js';

const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

function aStorage(keyPrefix: string) {
  return new RedisStorage({ url: inject('redisUrl'), keyPrefix });
}

describe('an API server on Redis', () => {
  it('still has everything after a restart, and goes on counting', async () => {
    const prefix = `api-${randomUUID()}:`;
    const first = await startApiServer({ storage: aStorage(prefix) });
    const { body: created } = await first.call('POST', DEPLOYMENTS, aDeployment('web'));
    await first.stop();

    const second = await startApiServer({ storage: aStorage(prefix) });
    const { body: found } = await second.call('GET', `${DEPLOYMENTS}/web`);
    expect(found).toEqual(created);
    const { body: pod } = await second.call('POST', PODS, podBody('p'));
    expect(Number(pod.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
    await second.stop();
  });

  it('lets two servers share one store: a write at one is seen, guarded and refused at the other', async () => {
    const prefix = `api-${randomUUID()}:`;
    const one = await startApiServer({ storage: aStorage(prefix) });
    const two = await startApiServer({ storage: aStorage(prefix) });
    const { body: created } = await one.call('POST', DEPLOYMENTS, aDeployment('web'));
    created.spec.replicas = 5;
    expect((await two.call('PUT', `${DEPLOYMENTS}/web`, created)).status).toBe(200);
    created.spec.replicas = 6;
    expect((await one.call('PUT', `${DEPLOYMENTS}/web`, created)).status).toBe(409);
    expect((await one.call('POST', DEPLOYMENTS, aDeployment('web'))).body.reason).toBe('AlreadyExists');
    await Promise.all([one.stop(), two.stop()]);
  });

  it('makes as many objects as are asked for at once, each with a version of its own', async () => {
    const server = await startApiServer({ storage: aStorage(`api-${randomUUID()}:`) });
    const names = Array.from({ length: 200 }, (_, index) => `p${index}`);
    const answers = await Promise.all(names.map((name) => server.call('POST', PODS, podBody(name))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.metadata.resourceVersion)).size).toBe(names.length);
    expect((await server.call('GET', PODS)).body.items).toHaveLength(names.length);
    await server.stop();
  });
});
