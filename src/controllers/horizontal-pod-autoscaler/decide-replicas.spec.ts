import { describe, expect, it } from 'vitest';
import type { Pod } from '../../machinery/kubernetes/index.js';
import type { ResourceMetric, ScaleFacts } from './decide-replicas.js';
import { decideReplicas } from './decide-replicas.js';
import { podOf } from '../../testing/pod-builder.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const CPU: ResourceMetric = { resource: 'cpu', target: { utilization: 50 } };

interface PodTraits {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly ready?: 'True' | 'False';
  readonly startedAgoMs?: number;
  readonly changedAgoMs?: number;
  readonly request?: string;
  readonly deleted?: boolean;
}

const agoMs = (ms: number): string => new Date(NOW - ms).toISOString();

function measuredPod(index: number, traits: PodTraits = {}): Pod {
  const { changedAgoMs = 600_000, deleted, phase = 'Running', ready = 'True', request = '100m' } = traits;
  const startTime = agoMs(traits.startedAgoMs ?? 600_000);
  const resources = request === '' ? {} : { requests: { cpu: request } };
  return podOf({
    metadata: { name: `web-${index}`, ...(deleted && { deletionTimestamp: agoMs(0) }) },
    spec: { containers: [{ name: 'web', resources }] },
    status: {
      phase,
      startTime,
      conditions: [{ type: 'Ready', status: ready, lastTransitionTime: agoMs(changedAgoMs) }],
    },
  });
}

/** @param uses thousandths of a CPU, by pod; undefined: not measured */
function facts(uses: readonly (number | undefined)[], traits: readonly PodTraits[] = []): ScaleFacts {
  const sampled = uses.flatMap((milli, index) =>
    milli === undefined ? [] : [[`web-${index}`, { milli, takenMs: NOW, windowMs: 15_000 }] as const],
  );
  return {
    pods: uses.map((_milli, index) => measuredPod(index, traits[index])),
    samples: new Map(sampled),
    currentReplicas: uses.length,
    tolerance: { down: 0.1, up: 0.1 },
    nowMs: NOW,
  };
}

const STARTING = { startedAgoMs: 60_000, changedAgoMs: 60_000, ready: 'False' } as const;

describe('the number of pods that a metric asks for', () => {
  it.each([
    { name: 'grows with the use', uses: [100, 100], replicas: 4 },
    { name: 'is rounded up', uses: [60, 61], replicas: 3 },
    { name: 'shrinks with the use', uses: [10, 10, 10, 10], replicas: 1 },
    { name: 'stays where a tenth too much is used', uses: [55, 55], replicas: 2 },
    { name: 'stays where a tenth too little is used', uses: [45, 45], replicas: 2 },
    { name: 'is none where nothing is used', uses: [0, 0], replicas: 0 },
    {
      name: 'takes a pod that was not measured for idle while it grows',
      uses: [200, undefined],
      replicas: 4,
    },
    { name: 'grows no more where pods not measured might carry it', uses: [60, undefined], replicas: 2 },
    {
      name: 'takes a pod that was not measured for fully used while it shrinks',
      uses: [10, 10, 10, undefined],
      replicas: 3,
    },
    {
      name: 'takes a starting pod for idle while it grows',
      uses: [200, 500],
      traits: [{}, STARTING],
      replicas: 4,
    },
    {
      name: 'leaves a starting pod out while it shrinks',
      uses: [20, 500],
      traits: [{}, STARTING],
      replicas: 1,
    },
    {
      name: 'leaves out the use from before the pod was ready',
      uses: [50, 500],
      traits: [{}, { startedAgoMs: 20_000, changedAgoMs: 10_000 }],
      replicas: 2,
    },
    {
      name: 'counts a pod that was ready once',
      uses: [100, 100],
      traits: [{}, { ready: 'False', changedAgoMs: 1000 }],
      replicas: 4,
    },
    {
      name: 'leaves out a pod that has never been ready',
      uses: [50, 500],
      traits: [{}, { ready: 'False', changedAgoMs: 595_000 }],
      replicas: 2,
    },
    { name: 'leaves out pods that go', uses: [50, 500], traits: [{}, { deleted: true }], replicas: 2 },
    {
      name: 'leaves out pods that have failed',
      uses: [50, 500],
      traits: [{}, { phase: 'Failed' }],
      replicas: 2,
    },
    {
      name: 'takes a pending pod for idle while it grows',
      uses: [200, undefined],
      traits: [{}, { phase: 'Pending' }],
      replicas: 4,
    },
  ] as const)('$name', ({ replicas, uses, ...rest }) => {
    const traits = 'traits' in rest ? rest.traits : [];
    expect(decideReplicas(CPU, facts(uses, traits))).toMatchObject({ replicas });
  });

  it('goes by the average of a pod where that is the target, of any resource', () => {
    const metric: ResourceMetric = { resource: 'memory', target: { averageMilli: 50 } };
    const unready = facts([100, 100], [{ request: '' }, STARTING]);
    expect(decideReplicas(metric, unready)).toEqual({ replicas: 4, current: { averageMilli: 100 } });
  });

  it('reports what was measured, without pods taken for idle', () => {
    expect(decideReplicas(CPU, facts([200, undefined]))).toMatchObject({
      current: { averageUtilization: 200, averageMilli: 200 },
    });
  });

  it('goes by one container where only that one counts', () => {
    const metric = { ...CPU, container: 'other' };
    expect(decideReplicas(metric, facts([100]))).toEqual({
      problem: 'no metrics returned matched known pods',
    });
  });

  it('counts what sidecars request, and not what containers of the start do', () => {
    const init = (name: string, cpu: string, restartPolicy?: string) => ({
      ...{ name, restartPolicy, resources: { requests: { cpu } } },
    });
    const given = facts([150]);
    const pod = given.pods[0] as Pod;
    const initContainers = [init('side', '50m', 'Always'), init('setup', '1')];
    const pods = [{ ...pod, spec: { ...pod.spec, initContainers } }];
    expect(decideReplicas(CPU, { ...given, pods })).toMatchObject({ current: { averageUtilization: 100 } });
  });

  it('obeys its own tolerances', () => {
    const tolerance = { down: 0.5, up: 0 };
    expect(decideReplicas(CPU, { ...facts([26, 26]), tolerance })).toMatchObject({ replicas: 2 });
    expect(decideReplicas(CPU, { ...facts([51, 51]), tolerance })).toMatchObject({ replicas: 3 });
  });

  it.each([
    { name: 'without pods', given: facts([]), problem: 'no pods returned by selector' },
    { name: 'where no pod is ready', given: facts([50], [STARTING]), problem: 'did not receive metrics' },
    {
      name: 'without requests to compare with',
      given: facts([50], [{ request: '' }]),
      problem: 'missing request for cpu in container web of Pod web-0',
    },
  ])('is not known $name', ({ given, problem }) => {
    expect(decideReplicas(CPU, given)).toEqual({ problem: expect.stringContaining(problem) as string });
  });
});
