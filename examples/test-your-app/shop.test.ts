import type { V1Deployment, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestCluster, TestClusterSnapshot } from 'rollkeeper/testing';
import { startTestCluster } from 'rollkeeper/testing';

/** An object as the API answers it. */
type Stored<T> = T & { apiVersion: string; kind: string; metadata: { name: string; uid?: string } };
type Deployment = Stored<V1Deployment>;

const SHOP = { file: `${import.meta.dirname}/shop.yaml` };
const WEB = 'shop/deployment/web';

const setImage = (image: string) => ({
  spec: { template: { spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 8080 }] }] } } },
});

describe('the shop', () => {
  let running: TestClusterSnapshot;
  let cluster: TestCluster;

  // Brought up once; every test begins with a copy of its own.
  beforeAll(async () => {
    await using first = await startTestCluster({ clock: 'manual', manifests: SHOP });
    await first.clock.advance(30_000);
    running = await first.snapshot();
  });
  beforeEach(async () => {
    cluster = await startTestCluster({ clock: 'manual', snapshot: running });
  });
  afterEach(() => cluster.stop());

  it('has three pods that are available once they have been ready for half a minute', async () => {
    const web = await cluster.get<Deployment>(WEB);
    expect(web?.status).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
    expect(await cluster.list<Stored<V1Pod>>('pods', { namespace: 'shop' })).toHaveLength(3);
  });

  it('never has less than three while a new version rolls out, one pod at a time', async () => {
    await cluster.patch(WEB, setImage('shop/web:1.1.0'));
    for (const updated of [1, 2, 3]) {
      await cluster.settled();
      const web = await cluster.get<Deployment>(WEB);
      expect(web?.status).toMatchObject({ updatedReplicas: updated, availableReplicas: 3, replicas: 4 });
      await cluster.clock.advance(30_000);
    }
    const web = await cluster.waitFor<Deployment>(WEB, 'rollout');
    expect(web?.status).toMatchObject({ replicas: 3, updatedReplicas: 3 });
  });

  it('keeps the old version when the new one cannot start, and says so after two minutes', async () => {
    await cluster.patch(WEB, setImage('shop/web:does-not-exist'));
    await cluster.settled();
    await cluster.clock.advance(125_000);
    const web = await cluster.waitFor<Deployment>(WEB, 'condition=Progressing=False');
    const progressing = web?.status?.conditions?.find(({ type }) => type === 'Progressing');
    expect(progressing?.reason).toBe('ProgressDeadlineExceeded');
    expect(web?.status).toMatchObject({ availableReplicas: 3 });
  });

  it('leaves nothing behind when it is deleted', async () => {
    await cluster.delete(WEB, { propagationPolicy: 'Foreground' });
    await cluster.waitFor(WEB, 'delete');
    expect(await cluster.list<Stored<V1ReplicaSet>>('replicasets', { namespace: 'shop' })).toEqual([]);
    expect(await cluster.list<Stored<V1Pod>>('pods', { namespace: 'shop' })).toEqual([]);
  });
});
