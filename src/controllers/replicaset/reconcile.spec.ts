import { describe, expect, it, vi } from 'vitest';
import { toRfc3339 } from '../../machinery/clock/index.js';
import { Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { refusal } from '../../testing/fake-cluster.js';
import { aPod } from '../../testing/pod-builder.js';
import { FIRST_TO_GO, firstToGo, podsToDelete, renderFirstToGo } from '../shared/index.js';
import { ReplicaSetHarness, aReplicaSet } from '../../testing/replicaset-harness.js';

function ready(pod: Pod, sinceMs: number): void {
  const lastTransitionTime = toRfc3339(sinceMs);
  pod.status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] };
}

function statusWrites({ cluster }: ReplicaSetHarness): number {
  return cluster.requests.filter(({ verb, subresource }) => verb === 'update' && subresource === 'status')
    .length;
}

describe('a ReplicaSet', () => {
  it('makes its pods from the template, with an owner and names of their own', async () => {
    const harness = new ReplicaSetHarness(3, {
      spec: {
        template: {
          metadata: { labels: { app: 'web', tier: 'a' }, annotations: { note: 'x' }, finalizers: ['f/f'] },
          spec: { containers: [{ name: 'web', image: 'nginx' }] },
        },
      },
    });
    await harness.settle();
    const { replicaSet, activePods } = harness;
    expect(activePods).toHaveLength(3);
    for (const pod of activePods) {
      expect(pod.metadata).toMatchObject({
        name: expect.stringMatching(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
        generateName: 'web-',
        namespace: 'default',
        labels: { app: 'web', tier: 'a' },
        annotations: { note: 'x' },
        finalizers: ['f/f'],
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: 'web',
            uid: replicaSet.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      });
      expect(pod.spec).toEqual(replicaSet.spec.template?.spec);
    }
    expect(harness.events.lines.toSorted()).toEqual(
      activePods.map(({ metadata }) => `Normal SuccessfulCreate Created pod: ${metadata.name}`).sort(),
    );
  });

  it('loses no pod of its own to pods of another namespace that name it as their controller', async () => {
    const harness = new ReplicaSetHarness(3);
    await harness.settle();
    const ownPods = () =>
      harness.cluster
        .all<Pod>(Pod)
        .flatMap(({ metadata: { namespace, uid } }) => (namespace === 'default' ? [uid] : []));
    const before = ownPods();
    for (const name of ['claimed-a', 'claimed-b']) {
      const claimed = aPod({ name, ownerUid: harness.replicaSet.metadata.uid ?? '' });
      claimed.metadata.namespace = 'other';
      harness.cluster.seed(Pod, claimed);
    }
    harness.catchUp();
    await harness.settle();
    expect(before).toHaveLength(3);
    expect(ownPods()).toEqual(before);
  });

  const NOTES: readonly { name: string; annotations: Record<string, string>; waits: boolean }[] = [
    {
      name: 'where its annotation says so',
      annotations: { 'rollkeeper.dev/pod-replacement': 'terminated' },
      waits: true,
    },
    { name: 'not without', annotations: {}, waits: false },
    {
      name: 'not for the annotation that a Deployment keeps on its own ReplicaSets',
      annotations: { 'rollkeeper.dev/pod-replacement-of-owner': 'terminated' },
      waits: false,
    },
  ];

  it.each(NOTES)('replaces a pod only once that has ended, $name', async ({ annotations, waits }) => {
    const harness = new ReplicaSetHarness(3);
    await harness.settle();
    const { replicaSet } = harness;
    await harness.cluster.update(ReplicaSet, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, annotations },
    });
    const [first, second] = harness.activePods;
    for (const pod of [first!, second!])
      await harness.changePod(pod, ({ metadata }) => {
        metadata.finalizers = ['f/f'];
        metadata.deletionTimestamp = toRfc3339(harness.clock.now());
      });
    await harness.settle();
    expect(harness.activePods).toHaveLength(waits ? 1 : 3);
    await harness.changePod(first!, (pod) => {
      pod.metadata.deletionTimestamp = toRfc3339(harness.clock.now());
      pod.status = { phase: 'Succeeded' };
    });
    await harness.settle();
    expect(harness.activePods).toHaveLength(waits ? 2 : 3);
  });

  it('writes its status once for each step, and not at all when nothing changed', async () => {
    const harness = new ReplicaSetHarness(10);
    await harness.settle();
    expect(statusWrites(harness)).toBe(1);
    await harness.makeAllReady();
    await harness.settle();
    expect(statusWrites(harness)).toBe(2);
    expect(harness.replicaSet.status).toMatchObject({
      replicas: 10,
      readyReplicas: 10,
      availableReplicas: 10,
      fullyLabeledReplicas: 10,
      observedGeneration: 1,
    });
    await harness.settle();
    expect(statusWrites(harness)).toBe(2);
  });

  it('creates at most a burst in one sync, and the rest in the next', async () => {
    const harness = new ReplicaSetHarness(12, { options: { burstReplicas: 5 } });
    await harness.activate();
    expect(harness.activePods).toHaveLength(5);
    await harness.settle();
    expect(harness.activePods).toHaveLength(12);
  });

  it('deletes with the UID as a precondition and reports it', async () => {
    const harness = new ReplicaSetHarness(2);
    await harness.settle();
    const uids = harness.activePods.map(({ metadata }) => metadata.uid);
    await harness.scale(1);
    await harness.settle();
    const deletion = harness.cluster.requests.find(({ verb }) => verb === 'delete');
    expect(uids).toContain(deletion?.deleteOptions?.preconditions?.uid);
    expect(harness.events.lines.at(-1)).toMatch(/^Normal SuccessfulDelete Deleted pod: web-/);
  });

  it('deletes the pods that are named for its new size, and others at another size', async () => {
    for (const [meant, isTaken] of [
      [2, true],
      [1, false],
    ] as const) {
      const harness = new ReplicaSetHarness(3);
      await harness.settle();
      await harness.makeAllReady();
      const pods = harness.activePods;
      const usual = podsToDelete({ pods, related: pods, count: 1, nowMs: harness.clock.now() });
      const pod = pods.find((each) => !usual.includes(each));
      if (!pod) throw new Error('no pod');
      const first = renderFirstToGo(firstToGo(meant, [pod], { beforeUnready: true }));
      await harness.scale(2, { [FIRST_TO_GO]: first });
      await harness.settle();
      const left = harness.activePods.map(({ metadata }) => metadata.name);
      expect(left).toHaveLength(2);
      expect(!left.includes(pod.metadata.name), `named for ${meant}`).toBe(isTaken);
    }
  });

  it('does not ask twice for a deletion that the cache does not show yet', async () => {
    const harness = new ReplicaSetHarness(3);
    await harness.settle();
    await harness.scale(1);
    harness.catchUp();
    await harness.activate();
    await harness.activate();
    expect(harness.cluster.count('delete', Pod)).toBe(2);
  });

  it('chooses another name when somebody else has the first', async () => {
    const seed = 5;
    const probe = new ReplicaSetHarness(1, { seed });
    await probe.activate();
    const [wouldBe] = probe.activePods;
    const harness = new ReplicaSetHarness(1, { seed });
    harness.cluster.seed(Pod, aPod({ name: wouldBe!.metadata.name, ownerUid: 'somebody-else' }));
    await harness.activate();
    expect(harness.activePods).toHaveLength(1);
    expect(harness.activePods[0]?.metadata.name).not.toBe(wouldBe!.metadata.name);
    await harness.settle();
    expect(harness.storedIntents).toBeUndefined();
  });
});

describe('pods that cannot be created', () => {
  it('fail the sync, show in a condition and an event, and leave no intents', async () => {
    const harness = new ReplicaSetHarness(10);
    harness.cluster.intercept = ({ verb }) =>
      verb === 'create' && harness.activePods.length >= 2
        ? refusal(403, 'Forbidden', 'exceeded quota')
        : undefined;
    const { error } = await harness.activate();
    expect(error).toMatchObject({ message: 'exceeded quota' });
    // Slow start: 1, then 2 with one failure, and no more.
    expect(harness.cluster.count('create', Pod)).toBe(3);
    expect(harness.events.lines.at(-1)).toBe('Warning FailedCreate Error creating: exceeded quota');
    expect(harness.replicaSet.status?.conditions).toMatchObject([
      { type: 'ReplicaFailure', reason: 'FailedCreate', message: 'exceeded quota' },
    ]);
    expect(harness.storedIntents).toBeUndefined();
    harness.cluster.intercept = () => undefined;
    await harness.settle();
    expect(harness.activePods).toHaveLength(10);
    expect(harness.replicaSet.status?.conditions).toBeUndefined();
  });

  it('are given up without a word in a namespace that is going away', async () => {
    const harness = new ReplicaSetHarness(3);
    const terminating = refusal(403, 'Forbidden', 'namespace is being terminated');
    Object.assign(terminating.status, { details: { causes: [{ reason: 'NamespaceTerminating' }] } });
    harness.cluster.intercept = ({ verb }) => (verb === 'create' ? terminating : undefined);
    expect((await harness.activate()).error).toBeUndefined();
    expect(harness.events.lines).toEqual([]);
    expect(harness.storedIntents).toBeUndefined();
  });
});

describe('pods of others', () => {
  it('are adopted as orphans that match, and released when they no longer do', async () => {
    const harness = new ReplicaSetHarness(2);
    harness.cluster.seed(Pod, aPod({ name: 'orphan' }));
    harness.cluster.seed(Pod, aPod({ name: 'stranger', labels: { app: 'db' } }));
    harness.cluster.seed(Pod, aPod({ name: 'foreign', ownerUid: 'somebody-else' }));
    await harness.settle();
    expect(harness.activePods.map(({ metadata }) => metadata.name)).toContain('orphan');
    expect(harness.activePods).toHaveLength(2);
    const orphan = harness.activePods.find(({ metadata }) => metadata.name === 'orphan')!;
    await harness.changePod(orphan, (pod) => (pod.metadata.labels = { app: 'debug' }));
    await harness.settle();
    expect(harness.cluster.peek<Pod>(Pod, 'default/orphan')?.metadata.ownerReferences).toEqual([]);
    expect(harness.activePods).toHaveLength(2);
  });

  it('are not adopted by a ReplicaSet that the API server knows to be leaving', async () => {
    const harness = new ReplicaSetHarness(0);
    harness.cluster.seed(Pod, aPod({ name: 'orphan' }));
    harness.pods.catchUp();
    const leaving = harness.replicaSet;
    leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    leaving.metadata.finalizers = ['orphan'];
    await harness.cluster.update(ReplicaSet, leaving);
    await harness.activate();
    expect(harness.cluster.peek<Pod>(Pod, 'default/orphan')?.metadata.ownerReferences).toBeUndefined();
  });
});

describe('time', () => {
  it('asks to be called exactly when the next pod becomes available', async () => {
    const harness = new ReplicaSetHarness(2, { spec: { minReadySeconds: 30 } });
    await harness.settle();
    const [first, second] = harness.activePods;
    await harness.changePod(first!, (pod) => ready(pod, harness.clock.now() - 20_000));
    await harness.changePod(second!, (pod) => ready(pod, harness.clock.now() - 5_000));
    harness.catchUp();
    expect((await harness.activate()).result).toEqual({ requeueAfterMs: 10_000 });
    harness.catchUp();
    await harness.clock.advance(10_000);
    expect((await harness.activate()).result).toEqual({ requeueAfterMs: 15_000 });
    expect(harness.replicaSet.status?.availableReplicas).toBe(1);
    harness.catchUp();
    await harness.clock.advance(15_000);
    expect((await harness.activate()).result).toEqual({});
    expect(harness.replicaSet.status?.availableReplicas).toBe(2);
  });

  it('comes back for a pod that becomes available while the status is being written', async () => {
    const harness = new ReplicaSetHarness(1, { spec: { minReadySeconds: 1 } });
    await harness.settle();
    await harness.changePod(harness.activePods[0]!, (pod) => ready(pod, harness.clock.now()));
    await harness.clock.advance(995);
    harness.catchUp();
    vi.spyOn(harness.cluster, 'update').mockImplementationOnce(async (type, object, options) => {
      await harness.clock.advance(50);
      return harness.cluster.update(type, object, options);
    });
    const { result } = await harness.activate();
    expect(harness.replicaSet.status).toMatchObject({ readyReplicas: 1 });
    expect(harness.replicaSet.status?.availableReplicas ?? 0).toBe(0);
    expect(result?.requeueAfterMs).toBeGreaterThan(0);
    harness.catchUp();
    await harness.activate();
    expect(harness.replicaSet.status?.availableReplicas).toBe(1);
  });

  it('lets a lost race for the status pass without an error', async () => {
    const harness = new ReplicaSetHarness(0);
    await harness.scale(0);
    expect(await harness.activate()).toMatchObject({ result: { requeueAfterMs: 20 } });
    await harness.settle();
    expect(harness.replicaSet.status?.observedGeneration).toBe(2);
  });
});

describe('a ReplicaSet that cannot or must not be managed', () => {
  it.each([
    ['an empty selector', { selector: {} }],
    ['a selector that misses its own template', { selector: { matchLabels: { app: 'other' } } }],
    [
      'an operator that nobody knows',
      { selector: { matchExpressions: [{ key: 'app', operator: 'Resembles', values: ['web'] }] } },
    ],
  ])('gets a Warning and no retry: %s', async (_name, spec: Partial<ReplicaSet['spec']>) => {
    const harness = new ReplicaSetHarness(3, { spec });
    expect(await harness.activate()).toEqual({ effects: 0, result: {} });
    expect(harness.events.lines).toEqual([expect.stringMatching(/^Warning InvalidSelector /)]);
  });

  it('only has its status kept while it is being deleted', async () => {
    const harness = new ReplicaSetHarness(3);
    await harness.settle();
    const { replicaSet } = harness;
    replicaSet.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    replicaSet.metadata.finalizers = ['foregroundDeletion'];
    await harness.cluster.update(ReplicaSet, replicaSet);
    await harness.cluster.delete(Pod, harness.activePods[0]!.metadata);
    await harness.settle();
    expect(harness.activePods).toHaveLength(2);
    expect(harness.replicaSet.status?.replicas).toBe(2);
  });

  it('is nothing to do when it is gone, and its intents are cleared', async () => {
    const harness = new ReplicaSetHarness(3);
    await harness.activate({ effect: 1, fault: 'killed-before' });
    expect(harness.storedIntents).toBeDefined();
    harness.cluster.vanish(ReplicaSet, harness.key);
    harness.catchUp();
    expect(await harness.activate()).toEqual({ effects: 0, result: {} });
    expect(harness.storedIntents).toBeUndefined();
  });

  it('does not take over the intents of a namesake that is gone', async () => {
    const harness = new ReplicaSetHarness(5);
    await harness.activate({ effect: 1, fault: 'killed-before' });
    harness.cluster.vanish(ReplicaSet, harness.key);
    harness.cluster.seed(ReplicaSet, aReplicaSet({ replicas: 1 }));
    await harness.settle();
    expect(harness.activePods).toHaveLength(1);
    expect(harness.storedIntents).toBeUndefined();
  });
});
