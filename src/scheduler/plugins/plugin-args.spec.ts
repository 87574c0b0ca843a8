import { SeededRandom } from '@rollkeeper/machinery/clock';
import type { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../cache/scheduler-cache.js';
import { decidePod } from '../decide/decide-pod.js';
import { viewOf } from '../decide/random-world.fixture.js';
import { compileProfile } from '../framework/compile-profile.js';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import { podInfoOf } from '../node/pod-info.js';
import { DEFAULT_PLUGINS } from '../run/default-plugins.js';
import { podOf } from '../../testing/pod-builder.js';

const handle = { view: viewOf({}), log: silentLogger };
const create = (name: string, args: unknown) =>
  DEFAULT_PLUGINS.find((entry) => entry.name === name)!.create(args, handle);

describe('arguments that are wrong are refused with the field', () => {
  it.each<[plugin: string, args: unknown, field: string]>([
    ['NodeResourcesFit', { scoringStrategy: { type: 'Most' } }, 'scoringStrategy.type'],
    [
      'NodeResourcesFit',
      { scoringStrategy: { resources: [{ name: 'cpu', weight: 0 }] } },
      'scoringStrategy.resources.0.weight',
    ],
    [
      'NodeResourcesFit',
      { scoringStrategy: { type: 'RequestedToCapacityRatio' } },
      'scoringStrategy.requestedToCapacityRatio',
    ],
    ['NodeResourcesFit', { ignoredResourceGroups: ['a/b'] }, 'ignoredResourceGroups.0'],
    ['NodeResourcesBalancedAllocation', { resources: [{ name: 'cpu', weight: 2 }] }, 'resources'],
    ['InterPodAffinity', { hardPodAffinityWeight: 101 }, 'hardPodAffinityWeight'],
    [
      'DefaultPreemption',
      { minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0 },
      'minCandidateNodesAbsolute',
    ],
    [
      'PodTopologySpread',
      { defaultConstraints: [{ topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
      'defaultConstraints',
    ],
    [
      'PodTopologySpread',
      {
        defaultingType: 'List',
        defaultConstraints: [{ topologyKey: 'z', maxSkew: 0, whenUnsatisfiable: 'DoNotSchedule' }],
      },
      'defaultConstraints.0.maxSkew',
    ],
    [
      'NodeAffinity',
      { addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
      'addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms',
    ],
  ])('%s %j', (plugin, args, field) => {
    expect(() => create(plugin, args)).toThrow(
      expect.objectContaining({ option: field }) as InvalidOptionError,
    );
  });
});

interface Case {
  readonly plugin: string;
  readonly args: unknown;
  readonly nodes: readonly ReadableNode[];
  readonly pod?: Partial<ReadablePod['spec']>;
  /** Pods that are on nodes already. */
  readonly others?: readonly ReadablePod[];
}

const aNode = (
  name: string,
  allocatable: Record<string, string>,
  labels: Record<string, string> = {},
): ReadableNode => ({
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  status: { allocatable: { pods: '10', ...allocatable } },
});
const asking = (requests: Record<string, string>) => ({
  containers: [{ name: 'c', resources: { requests } }],
});
const webPod = (name: string, spec: Partial<ReadablePod['spec']>): ReadablePod => ({
  ...podOf({ metadata: { name, namespace: 'a', uid: name, labels: { app: 'web' } } }),
  spec: { containers: [], ...spec },
});

/** Decides with this plug-in alone. */
function decide({ args, nodes, others = [], plugin, pod = {} }: Case) {
  const cache = new SchedulerCache();
  for (const node of nodes) cache.setNode(node);
  for (const other of others) cache.setPod(other);
  const info = podInfoOf(webPod('pod', pod));
  const service = {
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { name: 's', namespace: 'a' },
    spec: { selector: { app: 'web' } },
  };
  const plugins = [create('PrioritySort', undefined), create(plugin, args)];
  return decidePod({
    ...{ pod: info, startIndex: 0, random: new SeededRandom(1), view: viewOf({ services: [service] }) },
    snapshot: cache.snapshot(),
    nominated: cache.nominated,
    profile: compileProfile({ plugins: plugins.map((each) => ({ plugin: each, weight: 1 })) }),
  });
}

function scoresOf(given: Case): readonly number[] {
  const decision = decide(given);
  return decision.kind === 'chosen' ? (decision.scores?.totals ?? []) : [];
}

describe('arguments change', () => {
  const nodes = [aNode('small', { cpu: '2', memory: '8Gi' }), aNode('large', { cpu: '8', memory: '8Gi' })];
  const cpu = [{ name: 'cpu', weight: 1 }];

  it.each<[strategy: object, scores: readonly number[]]>([
    [{ type: 'LeastAllocated', resources: cpu }, [50, 87]],
    [{ type: 'MostAllocated', resources: cpu }, [50, 12]],
    [{ type: 'MostAllocated', resources: [...cpu, { name: 'memory', weight: 3 }] }, [50, 40]],
    [
      {
        type: 'RequestedToCapacityRatio',
        resources: cpu,
        requestedToCapacityRatio: {
          shape: [
            { utilization: 0, score: 0 },
            { utilization: 100, score: 10 },
          ],
        },
      },
      [50, 12],
    ],
    [
      {
        type: 'RequestedToCapacityRatio',
        resources: cpu,
        requestedToCapacityRatio: {
          shape: [
            { utilization: 20, score: 10 },
            { utilization: 60, score: 2 },
          ],
        },
      },
      [40, 100],
    ],
  ])('how NodeResourcesFit scores: %j', (scoringStrategy, scores) => {
    const pod = asking({ cpu: '1', memory: '4Gi' });
    expect(scoresOf({ plugin: 'NodeResourcesFit', args: { scoringStrategy }, nodes, pod })).toEqual(scores);
  });

  it('the resources that NodeResourcesFit leaves to others', () => {
    const pod = asking({ 'example.com/gpu': '1', 'other.com/x': '1' });
    const given = { plugin: 'NodeResourcesFit', nodes: [aNode('a', {})], pod };
    expect(decide({ ...given, args: undefined }).kind).toBe('refused');
    expect(decide({ ...given, args: { ignoredResources: ['example.com/gpu'] } })).toMatchObject({
      message: '0/1 nodes are available: 1 Insufficient other.com/x.',
    });
    const args = { ignoredResources: ['example.com/gpu'], ignoredResourceGroups: ['other.com'] };
    expect(decide({ ...given, args }).kind).toBe('chosen');
  });

  it('the resources that NodeResourcesBalancedAllocation balances', () => {
    const pod = asking({ cpu: '1', 'example.com/gpu': '1' });
    const resources = [
      { name: 'cpu', weight: 1 },
      { name: 'example.com/gpu', weight: 1 },
    ];
    const equal = aNode('equal', { cpu: '2', 'example.com/gpu': '2' });
    const lopsided = aNode('lopsided', { cpu: '2', 'example.com/gpu': '8' });
    const args = { resources };
    expect(
      scoresOf({ plugin: 'NodeResourcesBalancedAllocation', args, nodes: [equal, lopsided], pod }),
    ).toEqual([75, 65]);
  });

  it('the spread that PodTopologySpread asks of pods that ask nothing', () => {
    const defaultConstraints = [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }];
    const args = { defaultingType: 'List', defaultConstraints };
    const zoned = [aNode('a', {}, { zone: 'a' }), aNode('b', {}, { zone: 'b' })];
    const others = [webPod('other', { nodeName: 'a' })];
    expect(decide({ plugin: 'PodTopologySpread', args, nodes: zoned, others })).toMatchObject({
      kind: 'chosen',
      feasible: [{ name: 'b' }],
    });
  });

  it('the affinity that NodeAffinity asks of all pods', () => {
    const term = (value: string) => ({
      matchExpressions: [{ key: 'disk', operator: 'In', values: [value] }],
    });
    const addedAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term('ssd'), term('nvme')] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, preference: term('nvme') }],
    };
    const given = { plugin: 'NodeAffinity', args: { addedAffinity } };
    expect(decide({ ...given, nodes: [aNode('a', {})] })).toMatchObject({
      message: "0/1 nodes are available: 1 node(s) didn't match scheduler-enforced node affinity.",
    });
    const disks = ['ssd', 'nvme'].map((disk) => aNode(disk, {}, { disk }));
    expect(scoresOf({ ...given, nodes: disks })).toEqual([0, 100]);
  });

  it('the weight of a required term of another pod for InterPodAffinity', () => {
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const others = [webPod('other', { nodeName: 'small', affinity })];
    const given = { plugin: 'InterPodAffinity', nodes, others };
    expect(scoresOf({ ...given, args: {} })).toEqual([100, 0]);
    expect(scoresOf({ ...given, args: { hardPodAffinityWeight: 0 } })).toEqual([0, 0]);
  });
});
