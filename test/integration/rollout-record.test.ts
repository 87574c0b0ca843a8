import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDeploymentController,
  createRecordController,
  recordNameOf,
} from '../../src/controllers/deployment/index.js';
import { ConfigMap, Deployment } from '../../src/machinery/kubernetes/index.js';
import { readWholeTimeline } from '../../src/rollkeeper/insight/rollout/index.js';
import type { Timeline } from '../../src/rollkeeper/insight/rollout/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';

const rules = (resources: readonly string[]) => ({
  ...{ apiGroups: ['', 'apps'], verbs: ['get', 'list'] },
  resources,
});
const role = (name: string, resources: readonly string[]) => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
  metadata: { name, namespace: 'shop' },
  rules: [rules(resources)],
});
const binding = (name: string) => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  metadata: { name, namespace: 'shop' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
  subjects: [{ kind: 'User', name }],
});
const deployment = (namespace: string) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    },
  },
});

let cluster: TestCluster;

const target = async (client: TestCluster['client'], namespace = 'shop') => ({
  ...{ client, type: Deployment },
  deployment: await client.get<Deployment>(Deployment, { namespace, name: 'web' }),
});
const timeline = async (client: TestCluster['client'], namespace?: string): Promise<Timeline> =>
  readWholeTimeline(await target(client, namespace), { withEvents: false });
const recorded = async (client: TestCluster['client'], kind: string, count: number): Promise<Timeline> => {
  const { deployment: live } = await target(client);
  await cluster.waitFor(
    `shop/configmap/${recordNameOf(live.metadata.uid ?? '')}`,
    (configMap) => JSON.stringify(configMap?.['data' as never] ?? '').split(`\\"${kind}\\"`).length > count,
  );
  return timeline(client);
};

beforeAll(async () => {
  cluster = await startTestCluster({
    controllers: [
      createDeploymentController(),
      'replicaset',
      createRecordController('apps/v1', { gatherMs: 200 }),
    ],
    users: ['of-shop', 'without-configmaps'],
  });
  for (const name of ['shop', 'other'])
    await cluster.apply({
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name, annotations: { 'rollkeeper.dev/history': '14d' } },
    });
  const readable = ['deployments', 'replicasets'];
  for (const object of [
    role('of-shop', [...readable, 'configmaps', 'events']),
    role('without-configmaps', readable),
    ...['of-shop', 'without-configmaps'].map(binding),
    ...['shop', 'other'].map(deployment),
  ])
    await cluster.apply(object);
  for (const namespace of ['shop', 'other']) await cluster.waitFor(`${namespace}/deployment/web`, 'rollout');
});
afterAll(() => cluster.stop());

describe('the time line of a Deployment whose history lasts', () => {
  it('has who scaled it, to which size and by which means, and each change of its ReplicaSets', async () => {
    await recorded(cluster.client, 'created', 1);
    await cluster.patch('shop/deployment/web', { spec: { replicas: 4 } }, { subresource: 'scale' });
    const { entries, keptFor, notes } = await recorded(cluster.client, 'scaled', 1);
    expect({ keptFor, notes }).toEqual({ keptFor: '14d', notes: [] });
    expect(entries.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['created', 'asked', 'sized', 'scaled']),
    );
    expect(entries.find(({ kind }) => kind === 'scaled')).toMatchObject({
      ...{ sizes: { from: 2, to: 4 }, means: expect.any(String) as string },
      // The API server knows the author, also behind a Scale.
      ...{ what: 'scaled 2 → 4', by: 'admin' },
    });
    expect(entries.filter(({ kind }) => kind === 'created')).toHaveLength(1);
  });

  it('outlives the ReplicaSets', async () => {
    const before = await timeline(cluster.client);
    await cluster.patch('shop/deployment/web', { spec: { revisionHistoryLimit: 0 } });
    for (const [index, image] of ['app:2', 'app:3', 'app:4'].entries()) {
      const spec = { template: { spec: { containers: [{ name: 'app', image }] } } };
      await cluster.patch('shop/deployment/web', { spec });
      await cluster.waitFor('shop/deployment/web', 'rollout');
      await recorded(cluster.client, 'ended', index + 2);
    }
    await cluster.settled();
    const { entries } = await timeline(cluster.client);
    const left = await cluster.list('replicasets', { namespace: 'shop' });
    const asked = entries.filter(({ kind }) => kind === 'asked').map(({ revision }) => revision);
    expect(asked).toEqual(['1', '2', '3', '4']);
    expect(left.length).toBeLessThan(asked.length);
    expect(entries.length).toBeGreaterThan(before.entries.length);
  });

  it('is all that a user of one namespace sees of it, and nothing of another', async () => {
    const { client } = await cluster.user('of-shop');
    const own = await timeline(client);
    // Without the right to its Namespace, the default of that is not known.
    expect(own).toEqual({ ...(await timeline(cluster.client)), keptFor: undefined });
    await expect(timeline(client, 'other')).rejects.toMatchObject({ code: 403 });
  });

  it('says what is missing to a user who may not read ConfigMaps, and shows what the Deployment itself says', async () => {
    const { client } = await cluster.user('without-configmaps');
    const { entries, notes } = await timeline(client);
    expect(notes).toEqual(['You may not get configmaps of shop: the kept history is not seen.']);
    expect(entries.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['created', 'asked']));
  });

  it('goes with the Deployment', async () => {
    const { deployment: live } = await target(cluster.client);
    const name = recordNameOf(live.metadata.uid ?? '');
    const { metadata } = await cluster.client.get(ConfigMap, { namespace: 'shop', name });
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', uid: live.metadata.uid }]);
  });
});
