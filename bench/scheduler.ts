import { cpus } from 'node:os';
import { SeededRandom } from '../src/machinery/clock/index.js';
import type { KubernetesObject } from '../src/machinery/kubernetes/index.js';
import { silentLogger } from '../src/machinery/logging/index.js';
import type { ClusterView, PodInfo, ReadableNode, ReadablePod } from '../src/scheduler/index.js';
import {
  DEFAULT_PLUGINS,
  SchedulerCache,
  compileProfile,
  decidePod,
  podInfoOf,
} from '../src/scheduler/index.js';
import { number, readFlags } from '../test/support/flags.js';

/*
 * How many pods the scheduler decides in a second of CPU time, in memory: plug-ins, snapshot and cache, without the API. Each row continues with the
 * cluster that the one before has filled, so that the last column tells whether the number of pods matters.
 */

const { pods, rounds } = readFlags('npm run bench -- --scheduler', {
  pods: number('pods of a batch', 2000),
  rounds: number('batches', 4),
});

const VIEW: ClusterView = { get: () => undefined, list: () => [] };
const ZONES = ['a', 'b', 'c'];

interface Kind {
  readonly name: string;
  readonly pendingPod: (index: number) => ReadablePod;
}

const KINDS: readonly Kind[] = [
  { name: 'plain', pendingPod: (index) => pendingPod(index) },
  { name: 'spread over zones', pendingPod: (index) => pendingPod(index, spreadOverZones()) },
  { name: 'anti-affinity preferred', pendingPod: (index) => pendingPod(index, avoidEachOther()) },
];

console.log(`${cpus().length} processors, one used; ${pods} pods a batch`);
for (const nodes of [100, 1000]) for (const kind of KINDS) measure(nodes, kind);

function measure(nodes: number, { pendingPod: make, name }: Kind): void {
  const cache = new SchedulerCache();
  for (let index = 0; index < nodes; index++) cache.setNode(aNode(index));
  const handle = { view: VIEW, log: silentLogger };
  const profile = compileProfile({
    plugins: DEFAULT_PLUGINS.map(({ create, weight }) => ({ plugin: create({}, handle), weight })),
  });
  const random = new SeededRandom(1);
  let startIndex = 0;
  const decide = (pod: PodInfo): void => {
    const decision = decidePod({
      ...{ pod, profile, random, startIndex, view: VIEW },
      snapshot: cache.snapshot(),
      nominated: cache.nominated,
    });
    if (decision.kind !== 'chosen') throw new Error(`${pod.key} found no node`);
    startIndex = decision.nextStartIndex;
    cache.assume(pod, decision.node.name);
  };
  const figures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const batch = Array.from({ length: pods }, (_, index) => make(round * pods + index));
    const before = process.cpuUsage();
    for (const pod of batch) decide(podInfoOf(pod));
    const { system, user } = process.cpuUsage(before);
    figures.push(`${Math.round((pods * 1_000_000) / (system + user))}/s`);
  }
  console.log(`${nodes} nodes, ${name}: ${figures.join(', ')}`);
}

function aNode(index: number): ReadableNode {
  const name = `node-${index}`;
  return {
    ...object('Node', name),
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': ZONES[index % ZONES.length]!,
      },
    },
    status: { allocatable: { cpu: '64', memory: '256Gi', pods: '1000', 'ephemeral-storage': '500Gi' } },
  };
}

function pendingPod(index: number, spec: Partial<ReadablePod['spec']> = {}): ReadablePod {
  const name = `pod-${index}`;
  return {
    ...object('Pod', name),
    metadata: { name, namespace: 'default', uid: name, labels: { app: 'bench' } },
    spec: {
      containers: [{ name: 'c', image: 'web:1', resources: { requests: { cpu: '100m', memory: '128Mi' } } }],
      ...spec,
    },
  };
}

function spreadOverZones(): Partial<ReadablePod['spec']> {
  return {
    topologySpreadConstraints: [
      {
        topologyKey: 'topology.kubernetes.io/zone',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'bench' } },
      },
    ],
  };
}

function avoidEachOther(): Partial<ReadablePod['spec']> {
  return {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { app: 'bench' } },
            },
          },
        ],
      },
    },
  };
}

function object(kind: string, name: string): KubernetesObject {
  return { apiVersion: 'v1', kind, metadata: { name } };
}
