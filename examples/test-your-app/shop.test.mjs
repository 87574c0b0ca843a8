// With Node's own test runner: `node --test`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestCluster } from 'rollkeeper/testing';

/** @type {import('rollkeeper/testing').TestCluster} */
let cluster;
before(async () => {
  cluster = await startTestCluster({
    manifests: [new URL('shop.yaml', import.meta.url), new URL('access.yaml', import.meta.url)],
    users: [{ name: 'jane', groups: ['support'] }],
  });
});
after(() => cluster?.stop());

test('the shop has three pods that are ready', async () => {
  const web = await cluster.waitFor('shop/deployment/web', ({ status } = {}) => status?.readyReplicas === 3);
  assert.equal(web.spec.template.spec.containers[0].image, 'shop/web:1.0.0');
  const pods = await cluster.list('pods', { namespace: 'shop', labelSelector: 'app=web' });
  assert.deepEqual(
    pods.map(({ status }) => status.phase),
    ['Running', 'Running', 'Running'],
  );
});

test('people see it too', async () => {
  // Not execFileSync: the cluster lives in this process, and must be able to answer.
  const env = { ...process.env, ...cluster.env };
  const { stdout } = await promisify(execFile)('kubectl', ['-n', 'shop', 'get', 'deployment', 'web'], {
    env,
  });
  assert.match(stdout, /web\s+3\/3/);
});

test('support looks, and touches nothing', async () => {
  const { env } = await cluster.user('jane');
  const kubectl = (...args) =>
    promisify(execFile)('kubectl', ['-n', 'shop', ...args], { env: { ...process.env, ...env } });
  assert.match((await kubectl('get', 'deployment', 'web')).stdout, /web/);
  await assert.rejects(
    kubectl('delete', 'deployment', 'web'),
    /User "jane" cannot delete resource "deployments"/,
  );
  await assert.rejects(kubectl('get', 'secrets'), /forbidden/);
});

test('the deployer rolls out, and reads no secrets', async () => {
  const { client } = await cluster.user('system:serviceaccount:shop:deployer');
  const deployments = {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    kind: 'Deployment',
    namespaced: true,
  };
  const secrets = { group: '', version: 'v1', resource: 'secrets', kind: 'Secret', namespaced: true };
  const body = { metadata: { annotations: { 'shop/ticket': '1' } } };
  await client.patch(deployments, { namespace: 'shop', name: 'web' }, { type: 'merge', body });
  await assert.rejects(client.list(secrets, { namespace: 'shop' }), /cannot list resource "secrets"/);
});

test('pods that are deleted come back', async () => {
  const [victim] = await cluster.list('pods', { namespace: 'shop' });
  await cluster.delete(victim);
  await cluster.waitFor(victim, 'delete');
  await cluster.settled();
  const pods = await cluster.list('pods', { namespace: 'shop' });
  assert.equal(pods.length, 3);
  assert.ok(!pods.some(({ metadata }) => metadata.uid === victim.metadata.uid));
});
