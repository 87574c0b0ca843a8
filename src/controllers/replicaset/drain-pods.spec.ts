import { describe, expect, it } from 'vitest';
import { Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import type { Fault } from '../../testing/replicaset-harness.js';
import { ReplicaSetHarness } from '../../testing/replicaset-harness.js';
import { DRAINING, readDraining } from '../shared/index.js';

const RULE = {
  'rollkeeper.dev/keep-old-of-owner': 'until "http :8080/sessions == 0", at most 1h, at most 2',
};
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd-1', controller: true };

/** A ReplicaSet of an old version with ready pods. */
async function anOldVersion(replicas: number): Promise<ReplicaSetHarness> {
  const harness = new ReplicaSetHarness(replicas);
  const { replicaSet } = harness;
  replicaSet.metadata.ownerReferences = [DEPLOYMENT];
  await harness.cluster.update(ReplicaSet, replicaSet);
  await harness.settle();
  await harness.makeAllReady();
  await harness.settle();
  return harness;
}

const drainingIn = ({ cluster }: ReplicaSetHarness): Pod[] =>
  cluster.all<Pod>(Pod).filter((pod) => readDraining(pod) !== undefined);

describe('a pod of an old version that is to go', () => {
  it('leaves with all its labels in one patch, and belongs to its Deployment', async () => {
    const harness = await anOldVersion(3);
    harness.cluster.requests.length = 0;
    await harness.scale(2, RULE);
    await harness.settle();
    expect(harness.activePods).toHaveLength(2);
    expect([harness.cluster.count('patch', Pod), harness.cluster.count('delete', Pod)]).toEqual([1, 0]);
    const [pod] = drainingIn(harness);
    expect(pod?.metadata.labels).toEqual({ [DRAINING]: 'web' });
    expect(pod?.metadata.ownerReferences).toEqual([DEPLOYMENT]);
    expect(pod && readDraining(pod)).toMatchObject({ deploymentUid: 'd-1', version: 'web' });
    expect(harness.events.lines).toContain(
      `Normal PodDrains Pod ${pod?.metadata.name} has left its Service and drains until http :8080/sessions == 0`,
    );
    expect(harness.storedIntents).toBeUndefined();
  });

  it('is replaced by a new pod where it is wanted again: one that drains never comes back', async () => {
    const harness = await anOldVersion(3);
    await harness.scale(0, RULE);
    await harness.settle();
    await harness.scale(3, { 'rollkeeper.dev/keep-old-of-owner': '' });
    await harness.settle();
    expect(harness.activePods).toHaveLength(3);
    expect(drainingIn(harness)).toHaveLength(3);
  });

  it('is deleted where it has no sessions: before its containers run, and while they crash', async () => {
    const harness = new ReplicaSetHarness(2);
    await harness.settle();
    const { replicaSet } = harness;
    replicaSet.metadata.ownerReferences = [DEPLOYMENT];
    await harness.cluster.update(ReplicaSet, replicaSet);
    const [crashing] = harness.activePods;
    const waiting = {
      name: 'app',
      image: 'x',
      imageID: '',
      restartCount: 4,
      ready: false,
      state: { waiting: {} },
    };
    await harness.changePod(
      crashing!,
      (pod) => (pod.status = { phase: 'Running', containerStatuses: [waiting] }),
    );
    await harness.scale(0, RULE);
    await harness.settle();
    expect(harness.cluster.all(Pod)).toEqual([]);
  });

  it('is deleted without the rule, and by a ReplicaSet that has no Deployment', async () => {
    const owned = await anOldVersion(1);
    await owned.scale(0);
    await owned.settle();
    expect(owned.cluster.all(Pod)).toEqual([]);
    const alone = new ReplicaSetHarness(1);
    await alone.settle();
    await alone.makeAllReady();
    await alone.scale(0, RULE);
    await alone.settle();
    expect(alone.cluster.all(Pod)).toEqual([]);
  });

  const FAULTS: readonly Fault[] = [
    'killed-before',
    'killed-after',
    'answer-lost',
    'never-arrived',
    'refused',
  ];
  it.each(FAULTS)('is one of exactly as many as are to go, even if a sync is broken: %s', async (fault) => {
    for (let effect = 0; effect < 1 + 4; effect++) {
      for (const freshCache of [true, false]) {
        const harness = await anOldVersion(6);
        await harness.scale(2, RULE);
        harness.catchUp();
        await harness.activate({ effect, fault });
        if (freshCache) harness.catchUp();
        await harness.activate();
        await harness.settle();
        expect(harness.activePods, `broken at effect ${effect}`).toHaveLength(2);
        expect(drainingIn(harness)).toHaveLength(4);
        expect(harness.storedIntents).toBeUndefined();
      }
    }
  });
});
