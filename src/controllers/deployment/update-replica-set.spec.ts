import { beforeEach, describe, expect, it } from 'vitest';
import { isConflict } from '../../client/api-client/api-status-error.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { ReplicaSet } from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { updateReplicaSet } from './apply.js';

describe('a decided ReplicaSet that meets another writer', () => {
  const never = new AbortController().signal;
  let cluster: FakeCluster;
  let wanted: ReplicaSet;

  beforeEach(() => {
    cluster = new FakeCluster(new FakeClock());
    const seen = cluster.seed(ReplicaSet, {
      ...aReplicaSet({ replicas: 10 }),
      status: { replicas: 10, availableReplicas: 10 },
    });
    wanted = { ...seen, spec: { ...seen.spec, replicas: 8 } };
  });

  const live = (): ReplicaSet => {
    const object = cluster.peek<ReplicaSet>(ReplicaSet, 'default/web');
    if (!object) throw new Error('the ReplicaSet is gone');
    return structuredClone(object);
  };
  const setStatus = async (availableReplicas: number): Promise<void> => {
    const object = { ...live(), status: { replicas: 10, availableReplicas } };
    await cluster.update(ReplicaSet, object, { subresource: 'status' });
  };

  it('is written on top of a status that has moved, which stays', async () => {
    await setStatus(11);
    await updateReplicaSet(cluster, wanted, never);
    expect(live()).toMatchObject({ spec: { replicas: 8 }, status: { availableReplicas: 11 } });
  });

  it('is a conflict when fewer pods are available than it was decided by', async () => {
    await setStatus(9);
    await expect(updateReplicaSet(cluster, wanted, never)).rejects.toSatisfy(isConflict);
    expect(live().spec.replicas).toBe(10);
  });

  it('is a conflict when somebody else changed what it asks for, or to whom it belongs', async () => {
    const other = live();
    other.spec.replicas = 20;
    other.metadata.generation = (other.metadata.generation ?? 0) + 1;
    await cluster.update(ReplicaSet, other);
    await expect(updateReplicaSet(cluster, wanted, never)).rejects.toSatisfy(isConflict);

    const adopted = live();
    adopted.metadata.ownerReferences = [];
    wanted = {
      ...live(),
      metadata: {
        ...live().metadata,
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }],
        resourceVersion: '1',
      },
    };
    await cluster.update(ReplicaSet, adopted);
    await expect(updateReplicaSet(cluster, wanted, never)).rejects.toSatisfy(isConflict);
  });
});
