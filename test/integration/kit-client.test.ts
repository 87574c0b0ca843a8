import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ConfigMap,
  Deployment,
  Pod,
  PodDisruptionBudget,
  evict,
  isNotFound,
  patchStatus,
  readScale,
  scale,
  serverSideApply,
} from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { aDeployment } from '../../src/testing/deployment-builder.js';

describe('the client of the kit', () => {
  let cluster: TestCluster;
  let web: Deployment;
  beforeAll(async () => {
    cluster = await startTestCluster({ controllers: 'deployment,replicaset,disruption', nodes: 1 });
    const { metadata: _, ...rest } = aDeployment({ replicas: 1 });
    const metadata = { name: 'web', namespace: 'default' };
    web = await cluster.client.create(Deployment, { ...rest, metadata });
    await cluster.waitFor('deployment/web', 'rollout');
  });
  afterAll(() => cluster.stop());

  it('reads and sets a scale', async () => {
    expect((await readScale(cluster.client, Deployment, web.metadata)).spec?.replicas).toBe(1);
    expect((await scale(cluster.client, Deployment, web.metadata, 2)).spec?.replicas).toBe(2);
    await cluster.waitFor('deployment/web', 'rollout');
  });

  it('evicts within the budgets', async () => {
    const selector = web.spec.selector;
    const ref = { namespace: 'default', name: 'web' };
    const budget = { metadata: ref, spec: { minAvailable: 2, selector } };
    await serverSideApply(cluster.client, PodDisruptionBudget, budget, { fieldManager: 'test', owner: web });
    await cluster.settled();
    const [pod] = (await cluster.client.list(Pod, { namespace: 'default' })).items;
    await expect(evict(cluster.client, pod!.metadata)).rejects.toMatchObject({ code: 429 });
    const stored = await cluster.client.get(PodDisruptionBudget, ref);
    expect(stored.metadata.ownerReferences).toMatchObject([{ name: 'web', controller: true }]);
    await cluster.client.delete(PodDisruptionBudget, ref);
    await evict(cluster.client, pod!.metadata, { preconditions: { uid: pod?.metadata.uid } });
    await cluster.waitFor(`pod/${pod?.metadata.name}`, 'delete');
  });

  it('merges into a status what it says of it, and nothing else', async () => {
    const before = (await cluster.client.get(Deployment, web.metadata)).status;
    const { status } = await patchStatus(cluster.client, Deployment, web.metadata, { collisionCount: 7 });
    expect(status).toEqual({ ...before, collisionCount: 7 });
  });

  it('says why it cannot read a log', async () => {
    const [pod] = (await cluster.client.list(Pod, { namespace: 'default' })).items;
    const read = async (ref: { namespace?: string; name: string }): Promise<unknown> => {
      try {
        for await (const line of cluster.client.logs(ref, { tailLines: 10 })) return line;
        return 'nothing';
      } catch (error) {
        return error;
      }
    };
    // There is no kubelet on a simulated node.
    expect(await read(pod!.metadata)).toMatchObject({
      code: 500,
      message: expect.stringContaining('connection refused') as string,
    });
    expect(isNotFound(await read({ namespace: 'default', name: 'missing' }))).toBe(true);
  });

  it('applies with an owner, whose end is the object’s', async () => {
    const metadata = { namespace: 'default', name: 'owned' };
    const options = { fieldManager: 'test', owner: web };
    const owned = await serverSideApply(cluster.client, ConfigMap, { metadata, data: { a: '1' } }, options);
    expect(owned.metadata.ownerReferences).toMatchObject([{ uid: web.metadata.uid, controller: true }]);
  });
});
