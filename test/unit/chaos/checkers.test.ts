import { describe, expect, it } from 'vitest';
import { ActivationsChecker } from '../../chaos/checkers/activations.js';
import { findLostChanges } from '../../chaos/checkers/changes.js';
import type { TermLine } from '../../chaos/checkers/epochs.js';
import { EpochsChecker } from '../../chaos/checkers/epochs.js';
import type { JournalLine } from '../../chaos/checkers/journal-line.js';
import { LeaseFenceChecker } from '../../chaos/checkers/lease-fence.js';
import { LimitsChecker } from '../../chaos/checkers/limits.js';
import { PoliciesChecker } from '../../chaos/checkers/policies.js';
import { PodNamesChecker } from '../../chaos/checkers/pod-names.js';
import { PodsOfReplicaSetChecker } from '../../chaos/checkers/pods-of-replicaset.js';
import { MAX_ROLLOUTS } from '../../chaos/policy-world.js';
import { SchedulingChecker } from '../../chaos/checkers/scheduling.js';
import { StoreReplay } from '../../chaos/checkers/store-replay.js';
import type { HistoryEvent } from '../../chaos/history.js';
import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';

const P = 'rollkeeper.dev/';
const ownedBy = (uid: string) => [{ apiVersion: 'v1', kind: 'x', name: uid, uid, controller: true }];
const begin = (t: number, p: number, n: number): JournalLine => ({
  e: 'begin',
  t,
  p,
  n,
  c: 'replicaset',
  k: 'a/b',
});
const write = (t: number, p: number, n: number): JournalLine => ({
  ...{ e: 'write', t, p, n, c: 'replicaset', k: 'a/b', m: 'POST', u: '/pods' },
});
const enqueued = (n: number): JournalLine => ({ e: 'enqueued', t: 1, p: 1, n, c: 'x', k: 'a/b' });
const term = (what: TermLine['what'], epoch: number, holder: string): TermLine => ({
  ...{ controller: 'x', what, epoch, holder },
});
const lead = (t: number, p: number, n: number): JournalLine => ({ e: 'lead', t, p, n });

/** Between two changes: longer than a cache lags. */
const A_WHILE_MS = 20_000;

let revision = 0;
function change(kind: HistoryEvent['kind'], uid: string, rest: object, deleted = false): HistoryEvent {
  revision += 1;
  const { metadata = {}, ...body } = rest as { metadata?: object };
  const object = {
    apiVersion: 'v1',
    kind,
    metadata: { name: uid, uid, generation: 1, ...metadata },
    ...body,
  } as KubernetesObject;
  return { kind, deleted, resourceVersion: String(revision), seenAtMs: revision * A_WHILE_MS, object };
}
const deployment = (replicas: number, generation = 1, observedGeneration = generation): HistoryEvent =>
  change('Deployment', 'web', {
    metadata: { generation },
    spec: { replicas, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    status: { observedGeneration },
  });
const replicaSet = (uid: string, wanted: number, has: number, availableReplicas = 0): HistoryEvent =>
  change('ReplicaSet', uid, {
    metadata: { ownerReferences: ownedBy('web') },
    spec: { replicas: wanted },
    status: { replicas: has, availableReplicas, observedGeneration: 1 },
  });
const pod = (uid: string, owner: string, deleted = false): HistoryEvent =>
  change(
    'Pod',
    uid,
    {
      metadata: { ownerReferences: ownedBy(owner) },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    },
    deleted,
  );

describe('the checkers of a chaos run', () => {
  it('(a) see a write under an older token after a newer activation began, and let its end be late', () => {
    const fine = [begin(1, 1, 10), write(2, 1, 10), begin(10, 2, 11), write(12, 2, 11)];
    expect(new ActivationsChecker().check(fine)).toEqual([]);
    expect(new ActivationsChecker().check([...fine, write(15, 1, 10)])).toHaveLength(1);
    expect(new ActivationsChecker().check([begin(1, 1, 10), begin(5, 2, 10)])).toHaveLength(1);
  });

  it('(b) see what a queue took under a term that was over, and terms that begin out of order', () => {
    const fine = [term('begin', 1, 'a'), term('add', 1, 'a'), term('begin', 2, 'b'), term('add', 2, 'b')];
    const again = [term('begin', 2, 'b'), term('add', 2, 'b')];
    expect(new EpochsChecker().check([], [...fine, ...again])).toEqual([]);
    for (const late of [
      term('add', 1, 'a'),
      term('add', 2, 'a'),
      term('begin', 1, 'a'),
      term('begin', 2, 'c'),
    ])
      expect(new EpochsChecker().check([], [...fine, late])).toHaveLength(1);
    const other = { ...term('add', 1, 'a'), controller: 'y' };
    expect(
      new EpochsChecker().check([], [term('begin', 2, 'b'), { ...other, what: 'begin' }, other]),
    ).toEqual([]);
  });

  it('(b) see an add that no queue has judged, and two leaders of one epoch', () => {
    const terms = [term('begin', 1, 'a'), term('add', 1, 'a')];
    expect(new EpochsChecker().check([enqueued(1)], terms)).toEqual([]);
    expect(new EpochsChecker().check([enqueued(1), enqueued(1)], terms)).toHaveLength(1);
    expect(new EpochsChecker().check([enqueued(2)], terms)).toHaveLength(1);
    expect(new EpochsChecker().check([lead(1, 1, 1), lead(5, 1, 1), lead(9, 2, 2)], [])).toEqual([]);
    expect(new EpochsChecker().check([lead(1, 1, 1), lead(5, 2, 1)], [])).toHaveLength(1);
    // Redis has lost its data in between.
    const lost = { ...term('begin', 0, '-'), what: 'lost' } as const;
    expect(new EpochsChecker().check([lead(1, 1, 1), lead(5, 2, 1)], [lost])).toEqual([]);
    // The older data has a term of its own, and its leader may add until it notices.
    const added = [term('begin', 2, 'b'), lost, term('add', 2, 'b')];
    expect(new EpochsChecker().check([], [...added, term('add', 2, 'b')])).toEqual([]);
    expect(new EpochsChecker().check([], [...added, term('add', 1, 'a')])).toHaveLength(1);
    expect(new EpochsChecker().check([], [term('begin', 2, 'b'), lost, term('add', 3, 'c')])).toHaveLength(1);
  });

  it('(b) see a write that a leader without a Redis decided before another one led', () => {
    const ofTerm = (t: number, p: number, g: number): JournalLine => ({ ...write(t, p, 1), g });
    const check = (...lines: JournalLine[]) => new LeaseFenceChecker().check(lines);
    expect(check(lead(1, 1, 1), ofTerm(2, 1, 1), lead(5, 2, 2), ofTerm(6, 2, 2))).toEqual([]);
    // The line of the new leader may come between the last look at the lease and the line of the write.
    expect(check(lead(1, 1, 1), lead(5, 2, 2), ofTerm(5.5, 1, 1))).toEqual([]);
    const late = check(lead(1, 1, 1), lead(5, 2, 2), ofTerm(8, 1, 1));
    const u = '/api/v1/namespaces/kube-system/configmaps/rollkeeper-intents-3';
    const ledger = { p: 1, g: 1, c: 'replicaset', k: 'a/b', n: 1, m: 'PUT', u };
    const sent: JournalLine = { ...ledger, e: 'write', t: 8 };
    const taken = (s: number): JournalLine => ({ ...ledger, e: 'wrote', t: 9, s });
    const works: JournalLine = { ...begin(7, 2, 1), g: 2 };
    expect(check(lead(1, 1, 1), lead(5, 2, 2), works, sent, taken(409))).toEqual([]);
    expect(check(lead(1, 1, 1), lead(5, 2, 2), sent, works, taken(200))).toHaveLength(1);
    expect(check(lead(1, 1, 1), lead(5, 2, 2), sent, taken(200), works)).toEqual([]);
    expect(late).toMatchObject([
      { check: 'lease fence', problem: expect.stringContaining('3 ms after process 2') as string },
    ]);
  });

  it('(d) see a pod that comes back under the name of one that was deleted later than an intent can be open', () => {
    const lives = (uid: string, deleted = false): HistoryEvent =>
      change('Pod', uid, { metadata: { name: 'web-x' } }, deleted);
    const check = (...events: HistoryEvent[]) => {
      const checker = new PodNamesChecker();
      return events.flatMap((event) => checker.check(event));
    };
    expect(check(lives('a'), lives('a', true), lives('b'))).toEqual([]);
    expect(check(lives('a'), lives('a'), lives('a', true), lives('b'))).toMatchObject([
      { check: 'pod names', subject: 'web-x' },
    ]);
  });

  it('(c) see a size above the ceiling and ready pods below the floor, once everything was at rest', () => {
    const replay = new StoreReplay();
    const checker = new LimitsChecker(replay);
    const check = (event: HistoryEvent): number => {
      replay.apply(event);
      return checker.check(event).length;
    };
    const rising = [deployment(2), replicaSet('old', 2, 2), pod('a', 'old'), pod('b', 'old'), deployment(2)];
    expect(rising.map(check)).toEqual([0, 0, 0, 0, 0]);
    expect(check(replicaSet('new', 1, 0)), 'one more is allowed').toBe(0);
    expect(check(replicaSet('new', 2, 0)), 'two more are not, at rest and as a decision').toBe(2);
    expect(check(replicaSet('new', 1, 0))).toBe(0);
    expect(check(pod('b', 'old', true)), 'none may be missing').toBe(1);
  });

  it('(c) see a size that takes available pods below the floor while the size changes, and what is over the ceiling grow', () => {
    const replay = new StoreReplay();
    const checker = new LimitsChecker(replay);
    const check = (event: HistoryEvent): number => {
      replay.apply(event);
      return checker.check(event).length;
    };
    const pods = ['a', 'b', 'c', 'd'].map((uid) => pod(uid, 'old'));
    const rising = [deployment(4), replicaSet('old', 4, 4, 4), ...pods, replicaSet('new', 1, 1)];
    expect(rising.map(check).every((found) => found === 0)).toBe(true);
    expect(check(deployment(3, 2, 1)), 'somebody scales down to 3').toBe(0);
    expect(check(replicaSet('old', 3, 4, 4)), 'the floor is 3').toBe(0);
    expect(check(replicaSet('old', 2, 4, 4)), 'not 2').toBe(1);
    expect(check(replicaSet('new', 3, 1)), '5 together, as the spec before allowed').toBe(0);
    expect(check(deployment(3, 2)), 'the controller has seen the size').toBe(0);
    expect(check(replicaSet('new', 4, 1)), 'and makes 5 in all 6').toBe(1);
    expect(check(replicaSet('new', 3, 1)), 'fewer again').toBe(0);
  });

  it('(c) do not count what was not known to be available, nor a size that the controller has yet to see', () => {
    const replay = new StoreReplay();
    const checker = new LimitsChecker(replay);
    const check = (event: HistoryEvent): number => {
      replay.apply(event);
      return checker.check(event).length;
    };
    const pods = ['a', 'b', 'c'].map((uid) => pod(uid, 'old'));
    const rising = [deployment(3), replicaSet('old', 3, 3, 1), ...pods];
    expect(rising.map(check).every((found) => found === 0)).toBe(true);
    expect(check(replicaSet('old', 1, 3, 1)), 'one was known').toBe(0);
    expect(check(replicaSet('old', 0, 3, 1)), 'and must stay').toBe(1);
  });

  it('(c) count a ready pod that a user has deleted until the status of its ReplicaSet says so', () => {
    const replay = new StoreReplay();
    const checker = new LimitsChecker(replay);
    const check = (event: HistoryEvent): number => {
      replay.apply(event);
      return checker.check(event).length;
    };
    const old = [replicaSet('old', 2, 2, 2), pod('a', 'old'), pod('b', 'old')];
    const rising = [deployment(2, 2, 1), ...old, replicaSet('new', 1, 1, 1), pod('c', 'new')];
    expect(rising.map(check).every((found) => found === 0)).toBe(true);
    expect(check(pod('c', 'new', true)), 'a user deletes the new pod').toBe(0);
    expect(check(replicaSet('old', 1, 2, 2)), 'the status still says that it is there').toBe(0);
    expect(check(replicaSet('new', 1, 0, 0)), 'now it does not').toBe(0);
    expect(check(replicaSet('old', 0, 1, 1)), 'and no further pod may go').toBe(1);
  });

  it('(c) let the pass that ends a rollout take the note of a held size away and fill that size, and no later one', () => {
    const replay = new StoreReplay();
    const checker = new LimitsChecker(replay);
    const check = (event: HistoryEvent): number => {
      replay.apply(event);
      return checker.check(event).length;
    };
    const annotations = (held?: string) => (held === undefined ? {} : { [`${P}size-at-start`]: held });
    const sized = (uid: string, replicas: number, held?: string) =>
      change('ReplicaSet', uid, {
        metadata: { ownerReferences: ownedBy('web'), annotations: annotations(held) },
        spec: { replicas },
        status: { replicas, availableReplicas: replicas, observedGeneration: 1 },
      });
    const web = (replicas: number) =>
      change('Deployment', 'web', {
        metadata: { annotations: { [`${P}autoscaling`]: 'floor' } },
        spec: { replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
        status: { observedGeneration: 1, replicas },
      });
    expect([web(3), sized('old', 2), sized('new', 2, '4')].map(check)).toEqual([0, 0, 0]);
    expect(check(sized('new', 3)), 'the note is gone').toBe(0);
    expect(check(sized('old', 1)), 'another write of the same pass').toBe(0);
    expect(check(sized('new', 4)), 'the size was 4').toBe(0);
    expect(check(web(5)), 'the pass is over').toBe(0);
    expect(check(sized('new', 5)), 'and the size is 2').toBe(1);
  });

  it('(d) see a pod too many, but not the rest of a batch that was decided before it was scaled down', () => {
    const replay = new StoreReplay();
    const checker = new PodsOfReplicaSetChecker(replay);
    const check = (event: HistoryEvent): number => {
      replay.apply(event);
      return checker.check(event).length;
    };
    const batch = [
      replicaSet('rs', 3, 0),
      pod('a', 'rs'),
      replicaSet('rs', 1, 0),
      pod('b', 'rs'),
      pod('c', 'rs'),
    ];
    expect(batch.map(check)).toEqual([0, 0, 0, 0, 0]);
    expect(check(pod('d', 'rs')), 'it never wanted four').toBe(1);
    expect([pod('b', 'rs', true), pod('c', 'rs', true), pod('d', 'rs', true)].map(check)).toEqual([0, 0, 0]);
    expect(check(replicaSet('rs', 1, 1)), 'at rest').toBe(0);
    expect(check(pod('e', 'rs')), 'it wants one').toBe(1);
  });

  it('(e) see an acknowledged change that is not stored or not rolled out, and pass over what nobody knows', () => {
    const replay = new StoreReplay();
    const template = { metadata: {}, spec: { containers: [] } };
    const stored = { paused: false, replicas: 1, template };
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
    replay.apply(change('Deployment', 'web', { spec: stored, status }));
    const acknowledged = { name: 'web', operation: 'scale', wish: stored, isUncertain: false };
    expect(findLostChanges([acknowledged], replay)).toEqual([]);
    const other = { ...acknowledged, wish: { ...stored, replicas: 2 } };
    expect(findLostChanges([other], replay)).toHaveLength(1);
    expect(findLostChanges([{ ...other, isUncertain: true }], replay)).toEqual([]);
    expect(findLostChanges([{ ...acknowledged, wish: undefined }], replay)).toHaveLength(1);
    expect(findLostChanges([{ ...acknowledged, name: 'gone' }], replay)).toHaveLength(1);
  });
});

describe('the check of bindings', () => {
  const onNode = (uid: string, nodeName?: string, phase = 'Running', deleted = false): HistoryEvent =>
    change(
      'Pod',
      uid,
      {
        spec: { nodeName, containers: [{ name: 'main', resources: { requests: { cpu: '1500m' } } }] },
        status: { phase },
      },
      deleted,
    );
  const checker = (): SchedulingChecker => {
    const made = new SchedulingChecker();
    const allocatable = { cpu: '4', pods: '3' };
    made.know([{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status: { allocatable } }]);
    return made;
  };
  const problemsOf = (...events: HistoryEvent[]): string[] => {
    const judge = checker();
    return events.flatMap((event) => judge.check(event)).map(({ problem }) => problem);
  };

  it('sees a pod that is bound twice, even after its end', () => {
    expect(problemsOf(onNode('a'), onNode('a', 'n'), onNode('a', 'n'))).toEqual([]);
    expect(problemsOf(onNode('a', 'n'), onNode('a', 'other'))[0]).toContain('was on n, and is on other');
    expect(problemsOf(onNode('a', 'n', 'Succeeded'), onNode('a', 'other', 'Succeeded'))).toHaveLength(1);
  });

  it('sees a node that has more than it can take, of which ended and deleted pods are no part', () => {
    const two = [onNode('a', 'n'), onNode('b', 'n')];
    expect(problemsOf(...two)).toEqual([]);
    expect(problemsOf(...two, onNode('c', 'n'))[0]).toContain('n has 4500m of cpu taken, of 4');
    expect(problemsOf(...two, onNode('a', 'n', 'Failed'), onNode('c', 'n'))).toEqual([]);
    expect(problemsOf(...two, onNode('b', 'n', 'Running', true), onNode('c', 'n'))).toEqual([]);
    expect(problemsOf(...two, onNode('c', 'elsewhere'))).toEqual([]);
  });
});

describe('the check of policies', () => {
  const P = 'rollkeeper.dev/';
  const REVISION = 'deployment.kubernetes.io/revision';
  const DESIRED = 'deployment.kubernetes.io/desired-replicas';
  const looked = (annotations: Record<string, string>, sets: readonly HistoryEvent[]): string[] => {
    const replay = new StoreReplay();
    const checker = new PoliciesChecker(replay);
    replay.apply(change('Deployment', 'web', { metadata: { annotations }, spec: { replicas: 10 } }));
    replay.apply(sized('old', 5, {}));
    return sets.flatMap((event) => {
      const found = checker.check(event).map(({ problem }) => problem);
      replay.apply(event);
      return found;
    });
  };
  const sized = (uid: string, replicas: number, annotations: Record<string, string>): HistoryEvent =>
    change('ReplicaSet', uid, {
      metadata: {
        ownerReferences: ownedBy('web'),
        annotations: { [REVISION]: '2', [DESIRED]: '10', ...annotations },
      },
      spec: { replicas },
    });
  const step = (done: number, approvals: number) => ({
    [`${P}step`]: JSON.stringify({
      revision: '2',
      done,
      approvals: Array.from({ length: approvals }, () => ({})),
    }),
  });

  it('finds a version that is larger than its step', () => {
    const steps = { [`${P}steps`]: '1; approve; 50%; wait 1s' };
    expect(looked(steps, [sized('new', 1, step(1, 0)), sized('new', 5, step(3, 1))])).toEqual([]);
    expect(looked(steps, [sized('new', 2, step(1, 0))])[0]).toContain('2 pods at step 2, which allows 1');
    expect(looked(steps, [sized('new', 6, step(3, 1))])[0]).toContain('allows 5');
  });

  it('judges no version by its steps where no other has pods', () => {
    const steps = { [`${P}steps`]: '1; approve; 50%; wait 1s' };
    expect(looked(steps, [sized('old', 0, {}), sized('new', 10, step(1, 0))])).toEqual([]);
  });

  it('does not judge an older version by the steps that it had reached', () => {
    const steps = { [`${P}steps`]: '1; approve; 50%; wait 1s' };
    const back = sized('old', 1, { [REVISION]: '3' });
    expect(looked(steps, [sized('new', 1, step(1, 0)), back, sized('new', 4, step(1, 0))])).toEqual([]);
  });

  it('does not judge a version by its steps once another one is wanted', () => {
    const annotations = { [`${P}steps`]: '1; approve; 50%; wait 1s' };
    const template = { spec: { containers: [{ name: 'web', image: 'web:other' }] } };
    const undone = change('Deployment', 'web', {
      metadata: { annotations },
      spec: { replicas: 10, template },
    });
    const larger = sized('new', 2, step(1, 0));
    expect(looked(annotations, [larger])).toHaveLength(1);
    expect(looked(annotations, [undone, larger])).toEqual([]);
  });

  it('does not judge a version by steps that its controller may not have seen yet', () => {
    const steps = { [`${P}steps`]: '1; approve; 50%; wait 1s' };
    const deployment = (generation: number, observedGeneration: number, annotations: object) =>
      change('Deployment', 'web', {
        metadata: { annotations, generation },
        ...{ spec: { replicas: 10 }, status: { observedGeneration } },
      });
    const larger = sized('new', 2, step(1, 0));
    expect(looked({}, [deployment(2, 1, steps), larger])).toEqual([]);
    expect(looked({}, [deployment(2, 1, steps), deployment(2, 2, steps), larger])).toHaveLength(1);
  });

  it('finds more rollouts at once than may be', () => {
    const turns = Array.from({ length: MAX_ROLLOUTS + 1 }, (_, index) => {
      const annotations = { [`${P}turn`]: JSON.stringify({ granted: 'now' }) };
      const spec = { template: { spec: { containers: [{ image: `web:${index}` }] } } };
      return change('Deployment', `web-${index}`, { metadata: { annotations }, spec });
    });
    expect(looked({}, turns)).toEqual([expect.stringContaining(`beside ${MAX_ROLLOUTS} others`)]);
  });

  it('finds a ReplicaSet that gets a template with more than other resources', () => {
    const templated = (image: string, cpu: string): HistoryEvent => {
      const containers = [{ name: 'web', image, resources: { requests: { cpu } } }];
      const { object } = sized('new', 2, {});
      return change('ReplicaSet', 'new', {
        ...object,
        spec: { replicas: 2, template: { spec: { containers } } },
      });
    };
    const resize = { [`${P}resize`]: 'in-place' };
    expect(looked(resize, [templated('web:1', '100m'), templated('web:1', '200m')])).toEqual([]);
    const found = looked(resize, [templated('web:1', '100m'), templated('web:2', '100m')]);
    expect(found).toEqual([expect.stringContaining('the template of new is another one')]);
  });

  it('finds an approval that nobody gave', () => {
    const steps = { [`${P}steps`]: '1; approve; 50%; wait 1s' };
    expect(looked(steps, [sized('new', 5, step(2, 0))])[0]).toContain('passed 1 approvals with 0');
  });

  it('finds a failed version that grows although a good one is left', () => {
    const failed = {
      [`${P}on-failure`]: 'rollback',
      [`${P}failed`]: JSON.stringify([{ replicaSet: 'new' }]),
    };
    const good = sized('old', 3, { [`${P}good-since`]: '2026-01-01T00:00:00Z' });
    expect(looked(failed, [good, sized('new', 1, {})])[0]).toContain('new has failed, and grows');
    expect(looked(failed, [sized('new', 1, {})])).toEqual([]);
  });
});
