import { SeededRandom } from '@rollkeeper/machinery/clock';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../../cache/scheduler-cache.js';
import { decidePod } from '../../decide/decide-pod.js';
import { defaultProfile, viewOf } from '../../decide/random-world.fixture.js';
import type { ReadablePod } from '../../framework/node-info.js';
import { podInfoOf } from '../../node/pod-info.js';
import { pickCandidate } from './default-preemption.js';
import type { Candidate } from './select-victims.js';

interface Running {
  readonly name: string;
  readonly node?: string;
  readonly priority?: number;
  readonly cpu?: string;
  readonly app?: string;
  /** Seconds after the first. */
  readonly startedAt?: number;
  readonly isBeingPreempted?: boolean;
}

function running({
  app = 'web',
  cpu = '1',
  isBeingPreempted,
  name,
  node = 'a',
  priority = 0,
  startedAt = 0,
}: Running): ReadablePod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name, namespace: 'a', uid: name, labels: { app } },
      ...(isBeingPreempted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { nodeName: node, priority, containers: [{ name: 'c', resources: { requests: { cpu } } }] },
    status: {
      startTime: new Date(1_700_000_000_000 + startedAt * 1000).toISOString(),
      ...(isBeingPreempted && {
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'PreemptionByScheduler',
            lastTransitionTime: '',
          },
        ],
      }),
    },
  };
}

const aBudget = (app: string, disruptionsAllowed: number, parts: object = {}): KubernetesObject => ({
  ...{
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: `of-${app}`, namespace: 'a' },
  },
  ...{ spec: { selector: { matchLabels: { app } } }, status: { disruptionsAllowed, ...parts } },
});

interface Case {
  readonly pods: readonly Running[];
  /** The pod that comes, with priority 100. */
  readonly cpu?: string;
  readonly spec?: Partial<ReadablePod['spec']>;
  readonly status?: ReadablePod['status'];
  readonly budgets?: readonly KubernetesObject[];
  readonly nodes?: readonly string[];
}

/** Nodes have two processors. */
function decide({ budgets = [], cpu = '1', nodes = ['a', 'b'], pods, spec, status }: Case) {
  const cache = new SchedulerCache();
  for (const name of nodes)
    cache.setNode({
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name } },
      status: { allocatable: { cpu: '2', pods: '10' } },
    });
  for (const pod of pods) cache.setPod(running(pod));
  const containers = [{ name: 'c', resources: { requests: { cpu } } }];
  const pod: ReadablePod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'comes', namespace: 'a', uid: 'comes' } },
    spec: { priority: 100, containers, ...spec },
    status,
  };
  const view = viewOf({ 'policy/poddisruptionbudgets': budgets });
  const decision = decidePod({
    ...{ pod: podInfoOf(pod), view, startIndex: 0, random: new SeededRandom(1) },
    snapshot: cache.snapshot(),
    nominated: cache.nominated,
    profile: defaultProfile(view),
  });
  if (decision.kind !== 'refused') throw new Error(`expected a refusal, got ${decision.kind}`);
  return {
    node: decision.nomination?.node,
    nomination: decision.nomination,
    victims: decision.victims.map(({ pod: { metadata } }) => metadata.name),
    message: decision.message,
  };
}

describe('preemption evicts', () => {
  it('no more than it must, and the least important', () => {
    const pods = [
      { name: 'low', priority: 1 },
      { name: 'mid', priority: 50 },
      { name: 'full', node: 'b', cpu: '2', priority: 100 },
    ];
    expect(decide({ pods })).toMatchObject({ node: 'a', victims: ['low'] });
    expect(decide({ pods, cpu: '2' })).toMatchObject({ node: 'a', victims: ['mid', 'low'] });
  });

  it('the one of equally important pods that has run the shortest', () => {
    const pods = [
      { name: 'old' },
      { name: 'young', startedAt: 9 },
      { name: 'full', node: 'b', cpu: '2', priority: 100 },
    ];
    expect(decide({ pods })).toMatchObject({ victims: ['young'] });
  });

  it('rather what no budget protects, and what one protects only where it must', () => {
    const pods = [{ name: 'guarded' }, { name: 'free', app: 'db', startedAt: -9 }];
    const budgets = [aBudget('web', 0)];
    expect(decide({ nodes: ['a'], pods, budgets })).toMatchObject({ victims: ['free'] });
    expect(decide({ nodes: ['a'], pods, budgets, cpu: '2' }).victims).toHaveLength(2);
  });

  it('pods whose eviction violates fewer budgets', () => {
    const pods = [
      { name: 'guarded', cpu: '2', priority: 1 },
      { name: 'free', node: 'b', app: 'db', cpu: '2', priority: 50 },
    ];
    expect(decide({ pods, budgets: [aBudget('web', 0)] })).toMatchObject({ node: 'b' });
    expect(decide({ pods, budgets: [aBudget('web', 1)] })).toMatchObject({ node: 'a' });
    // Its disruption is under way, and has been counted.
    const disruptedPods = { guarded: '2026-01-01T00:00:00Z' };
    expect(decide({ pods, budgets: [aBudget('web', 0, { disruptedPods })] })).toMatchObject({ node: 'a' });
  });

  it('nothing for a pod that may not preempt', () => {
    expect(
      decide({ pods: [{ name: 'low', cpu: '2' }], nodes: ['a'], spec: { preemptionPolicy: 'Never' } }),
    ).toMatchObject({
      victims: [],
      nomination: undefined,
      message:
        '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    });
  });

  it('nothing more while its victims are leaving', () => {
    const pods = [
      { name: 'leaving', cpu: '2', isBeingPreempted: true },
      { name: 'low', node: 'b', cpu: '2' },
    ];
    const { message, victims } = decide({ pods, status: { nominatedNodeName: 'a' } });
    expect(victims).toEqual([]);
    expect(message).toContain('preemption: not eligible due to a terminating pod on the nominated node.');
  });

  it('nothing where that would not help, says why, and gives the nomination up', () => {
    const pods = [{ name: 'equal', cpu: '2', priority: 100 }];
    expect(decide({ pods, nodes: ['a', 'b'], cpu: '3', status: { nominatedNodeName: 'b' } })).toMatchObject({
      nomination: { node: undefined },
      message:
        '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    });
    expect(decide({ pods, nodes: ['a'] }).message).toContain(
      '1 No preemption victims found for incoming pod.',
    );
  });
});

describe('candidates for preemption', () => {
  const candidate = (
    name: string,
    violations: number,
    ...victims: readonly (readonly [priority: number, startedAt?: number])[]
  ): Candidate => ({
    node: { name } as Candidate['node'],
    violations,
    victims: victims.map(([priority, startedAt = 0], index) =>
      podInfoOf(running({ name: `${name}-${index}`, priority, startedAt })),
    ),
  });

  it.each<[what: string, candidates: readonly Candidate[]]>([
    ['fewer violated budgets', [candidate('worse', 1, [1]), candidate('best', 0, [9], [9])]],
    [
      'a less important most important victim',
      [candidate('worse', 0, [9]), candidate('best', 0, [8], [8], [8])],
    ],
    ['a smaller sum of priorities', [candidate('worse', 0, [9], [5]), candidate('best', 0, [9], [1])]],
    [
      'fewer victims, though their priorities are negative',
      [candidate('worse', 0, [-1], [-9]), candidate('best', 0, [-1])],
    ],
    [
      'victims that were started later',
      [candidate('worse', 0, [9, 5], [1, 50]), candidate('best', 0, [9, 6], [1, 1])],
    ],
  ])('are ordered: first the one with %s', (_what, candidates) => {
    expect(pickCandidate(candidates)?.node.name).toBe('best');
    expect(pickCandidate(candidates.toReversed())?.node.name).toBe('best');
  });
});
