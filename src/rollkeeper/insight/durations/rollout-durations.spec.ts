import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, toRfc3339 } from '../../../machinery/clock/index.js';
import { Deployment, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { FakeCluster, FakeInformers, aPod } from '../../../testing/index.js';
import { RolloutDurations } from './rollout-durations.js';

let clock: FakeClock;
let cluster: FakeCluster;
/** Reported outcomes and durations, in order. */
let told: [string, number][];
let leads: boolean;
let rollouts: RolloutDurations;
/** Ends the look at the caches. */
let stop: () => void;

const ofOutcome = (): [string, number][] =>
  told.filter(([what]) => what !== 'first write' && what !== 'overhead');

beforeEach(() => {
  clock = new FakeClock();
  cluster = new FakeCluster(clock);
  told = [];
  leads = true;
});

/** The caches start with the cluster's objects. */
function watch(): void {
  rollouts = new RolloutDurations({
    clock,
    metrics: {
      firstWrite: (durationMs) => void told.push(['first write', durationMs]),
      ended: (outcome, durationMs) => void told.push([outcome, durationMs]),
      overhead: (durationMs) => void told.push(['overhead', durationMs]),
    },
    tellsOf: () => leads,
  });
  show();
}

/** The caches show the objects of the cluster as they are, and their changes. */
function show(): void {
  const informers = new FakeInformers(cluster);
  stop = rollouts.watch({
    deployments: [informers.informerFor<Deployment>(Deployment)],
    replicaSets: informers.informerFor<ReplicaSet>(ReplicaSet),
    pods: informers.informerFor<Pod>(Pod),
  });
}

interface Shape {
  generation: number;
  observed?: number;
  updated?: number;
  reason?: string;
  uid?: string;
  spec?: Partial<Deployment['spec']>;
}

function web({ generation, observed = generation, reason, spec, uid = 'u', updated = 0 }: Shape): void {
  const conditions = reason ? [{ type: 'Progressing' as const, status: 'False' as const, reason }] : [];
  cluster.seed<Deployment>(Deployment, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', uid, generation },
    spec: { replicas: 3, selector: {}, template: {}, ...spec },
    status: {
      observedGeneration: observed,
      updatedReplicas: updated,
      replicas: 3,
      availableReplicas: 3,
      conditions,
    },
  });
}

function replicaSet(name: string, generation: number, ownerUid = 'u'): void {
  cluster.seed<ReplicaSet>(ReplicaSet, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      generation,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: ownerUid, controller: true },
      ],
    },
    spec: { replicas: 3, selector: {}, template: {} },
  });
}

function pod(name: string, owner: string, state: 'starting' | 'ready' | 'stopping'): void {
  const now = toRfc3339(clock.now());
  const readySince = state === 'starting' ? {} : { readySince: now };
  const deletedAt = state === 'stopping' ? { deletedAt: now } : {};
  cluster.seed(Pod, aPod({ name, ownerName: owner, ownerUid: `uid-${owner}`, ...readySince, ...deletedAt }));
}

const done = (generation: number, spec?: Shape['spec']): void => web({ generation, updated: 3, spec });

describe('the duration of a rollout', () => {
  it('runs from the change to the status that says complete', async () => {
    done(1);
    watch();
    web({ generation: 2, observed: 1, updated: 3 });
    await clock.advance(1500);
    web({ generation: 2, updated: 2 });
    await clock.advance(500);
    done(2);
    expect(ofOutcome()).toEqual([['complete', 2000]]);
    expect(rollouts.size).toBe(0);
  });

  it('is not reported by a replica that did not see its end, because the slot was away', async () => {
    done(1);
    watch();
    web({ generation: 2, observed: 1, updated: 3 });
    stop();
    await clock.advance(60_000);
    done(2);
    show();
    expect([ofOutcome(), rollouts.size]).toEqual([[], 0]);
  });

  it('is reported once, even if the status changes later', () => {
    done(1);
    watch();
    web({ generation: 2 });
    done(2);
    done(2);
    expect(ofOutcome()).toHaveLength(1);
  });

  it('ends when the deadline has passed', () => {
    done(1);
    watch();
    web({ generation: 2 });
    web({ generation: 2, reason: 'ProgressDeadlineExceeded' });
    expect(ofOutcome()).toEqual([['deadline_exceeded', 0]]);
  });

  it('ends with the next change, which begins another', () => {
    done(1);
    watch();
    web({ generation: 2 });
    web({ generation: 3, observed: 2 });
    expect(ofOutcome()).toEqual([['superseded', 0]]);
    expect(rollouts.size).toBe(1);
  });

  it('ends with the Deployment, also where another has its name', () => {
    done(1);
    watch();
    web({ generation: 2 });
    cluster.vanish(Deployment, 'default/web');
    web({ generation: 1, observed: 0, uid: 'other' });
    expect(ofOutcome().map(([outcome]) => outcome)).toEqual(['deleted']);
    expect(rollouts.size).toBe(1);
  });

  it('is reported by the leader alone, but known to every replica', async () => {
    watch();
    leads = false;
    web({ generation: 1, observed: 0 });
    await clock.advance(700);
    leads = true;
    done(1);
    expect(ofOutcome()).toEqual([['complete', 700]]);
  });

  it('is not made up for what was there before us', () => {
    web({ generation: 5 });
    watch();
    done(5);
    expect(told).toEqual([]);
  });
});

describe('the first write of a rollout', () => {
  const firstWrites = (): number[] =>
    told.filter(([what]) => what === 'first write').map(([, durationMs]) => durationMs);

  beforeEach(() => {
    done(1);
    replicaSet('old', 1);
    watch();
    web({ generation: 2, observed: 1 });
  });

  it.each([
    ['a ReplicaSet that is created', () => replicaSet('new', 1)],
    ['a ReplicaSet that is scaled', () => replicaSet('old', 2)],
    ['a status that has seen the change', () => web({ generation: 2 })],
  ])('is %s', async (_, write) => {
    await clock.advance(40);
    write();
    expect(firstWrites()).toEqual([40]);
  });

  it('is neither a status of pods nor a ReplicaSet of somebody else', async () => {
    await clock.advance(40);
    replicaSet('old', 1);
    replicaSet('foreign', 1, 'another');
    web({ generation: 2, observed: 1, updated: 3 });
    expect(firstWrites()).toEqual([]);
  });

  it('is reported once for each change', async () => {
    replicaSet('new', 1);
    await clock.advance(10);
    replicaSet('old', 2);
    web({ generation: 3, observed: 2 });
    await clock.advance(20);
    web({ generation: 3 });
    expect(firstWrites()).toEqual([0, 20]);
  });
});

describe('the overhead of a rollout', () => {
  const overheads = (): number[] =>
    told.filter(([what]) => what === 'overhead').map(([, durationMs]) => durationMs);

  it('leaves out the time in which pods start, that of several at a time once', async () => {
    done(1);
    replicaSet('old', 1);
    watch();
    web({ generation: 2, observed: 1 });
    await clock.advance(10);
    replicaSet('new', 1);
    await clock.advance(5);
    pod('a', 'new', 'starting');
    await clock.advance(100);
    pod('b', 'new', 'starting');
    await clock.advance(100);
    pod('a', 'new', 'ready');
    await clock.advance(100);
    pod('b', 'new', 'ready');
    await clock.advance(7);
    done(2);
    expect(overheads()).toEqual([22]);
  });

  it('leaves out pods that were starting when the change came, and those that are seen before their ReplicaSet', async () => {
    done(1);
    replicaSet('old', 1);
    pod('a', 'old', 'starting');
    watch();
    web({ generation: 2, observed: 1 });
    pod('b', 'new', 'starting');
    await clock.advance(50);
    cluster.vanish(Pod, 'default/a');
    await clock.advance(3);
    replicaSet('new', 1);
    await clock.advance(50);
    pod('b', 'new', 'ready');
    done(2);
    expect(overheads()).toEqual([3]);
  });

  it('leaves out minReadySeconds, and of these only what had passed', async () => {
    const spec = { minReadySeconds: 10 };
    done(1, spec);
    replicaSet('new', 1);
    watch();
    web({ generation: 2, observed: 1, spec });
    pod('a', 'new', 'starting');
    await clock.advance(1000);
    pod('a', 'new', 'ready');
    // The status only has whole seconds.
    await clock.advance(9500);
    done(2, spec);
    web({ generation: 3, observed: 2, spec });
    pod('b', 'new', 'starting');
    await clock.advance(1000);
    pod('b', 'new', 'ready');
    await clock.advance(10_250);
    done(3, spec);
    expect(overheads()).toEqual([0, 250]);
  });

  it.each([
    ['Recreate, leaves out the time in which pods stop', 'Recreate', 4],
    ['RollingUpdate, which waits for none of them, does not', 'RollingUpdate', 34],
  ] as const)('is right for %s', async (_, type, expected) => {
    const spec = { strategy: { type } };
    done(1, spec);
    replicaSet('old', 1);
    watch();
    web({ generation: 2, observed: 1, spec });
    pod('a', 'old', 'stopping');
    await clock.advance(30);
    cluster.vanish(Pod, 'default/a');
    await clock.advance(4);
    done(2, spec);
    expect(overheads()).toEqual([expected]);
  });

  it('is reported for complete rollouts alone', () => {
    done(1);
    watch();
    web({ generation: 2 });
    web({ generation: 3 });
    cluster.vanish(Deployment, 'default/web');
    expect(overheads()).toEqual([]);
  });
});
