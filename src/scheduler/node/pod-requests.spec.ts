import { describe, expect, it } from 'vitest';
import type { ReadablePod } from '../framework/node-info.js';
import { nonZeroRequestsOf, requestsOf, scoredRequestsOf } from './pod-requests.js';
import { podOf, type PodParts } from '../../testing/pod-builder.js';

type Spec = Partial<ReadablePod['spec']>;
type Container = ReadablePod['spec']['containers'][number];

const container = (requests: Record<string, string> = {}, parts: Partial<Container> = {}): Container => ({
  ...{ name: 'c', resources: { requests } },
  ...parts,
});
const sidecar = (requests: Record<string, string>): Container =>
  container(requests, { name: 's', restartPolicy: 'Always' });
const requestingPod = (spec: Spec, status: object = {}): ReadablePod =>
  podOf({ spec: spec as PodParts['spec'], status });
const MIB = 1024 * 1024;

describe('a pod requests', () => {
  it.each<[string, Spec, Record<string, number>]>([
    [
      'what its containers do together',
      { containers: [container({ cpu: '1' }), container({ cpu: '500m' })] },
      { cpu: 1500 },
    ],
    [
      'the sum rounded up, not each',
      { containers: [container({ cpu: '0.4m' }), container({ cpu: '0.4m' })] },
      { cpu: 1 },
    ],
    [
      'what the greediest init container does, if that is more',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '3' }), container({ cpu: '2' })],
      },
      { cpu: 3000 },
    ],
    [
      'what sidecars do, beside containers',
      { containers: [container({ cpu: '1' })], initContainers: [sidecar({ cpu: '1' })] },
      { cpu: 2000 },
    ],
    [
      'what sidecars do, beside the init containers after them alone',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '5' }), sidecar({ cpu: '2' }), container({ cpu: '4' })],
      },
      { cpu: 6000 },
    ],
    [
      'overhead on top',
      { containers: [container({ cpu: '1' })], overhead: { cpu: '250m', memory: '1Mi' } },
      { cpu: 1250, memory: MIB },
    ],
    [
      'as a whole what it states as a whole, of cpu, memory and huge pages',
      {
        containers: [container({ cpu: '1', memory: '1Mi', 'example.com/gpu': '1' })],
        resources: { requests: { cpu: '3', 'hugepages-2Mi': '2Mi', 'example.com/gpu': '7' } },
        overhead: { cpu: '1' },
      },
      { cpu: 4000, memory: MIB, 'example.com/gpu': 1, 'hugepages-2Mi': 2 * MIB },
    ],
  ])('%s', (_what, spec, expected) => {
    expect(Object.fromEntries(requestsOf(requestingPod(spec)))).toEqual(expected);
  });

  it('integers that no double holds exactly', () => {
    const pod = requestingPod({ containers: [container({ 'example.com/units': '9007199254740993' })] });
    expect(requestsOf(pod).get('example.com/units')).toBe(9007199254740993n);
  });
});

describe('while a container is resized, it counts', () => {
  const spec = { containers: [container({ cpu: '2' })] };
  const resized = (allocated: string, actual: string, conditions: object[] = []) => ({
    conditions,
    containerStatuses: [
      { name: 'c', allocatedResources: { cpu: allocated }, resources: { requests: { cpu: actual } } },
    ],
  });
  const infeasible = [{ type: 'PodResizePending', reason: 'Infeasible' }];
  const deferred = [{ type: 'PodResizePending', reason: 'Deferred' }];

  it.each([
    ['what it has, while that is the most', resized('1', '3'), 3000],
    ['what it was promised, while that is the most', resized('4', '1'), 4000],
    ['what it asks for, while that is the most', resized('1', '1'), 2000],
    ['what it asks for, while that waits for room', resized('1', '1', deferred), 2000],
    ['what it has, where what it asks for can never be', resized('1', '1', infeasible), 1000],
  ])('with %s', (_what, status, cpu) => {
    expect(requestsOf(requestingPod(spec, status)).get('cpu')).toBe(cpu);
  });

  it('as a pod with requests of its own in the same way', () => {
    const status = { resources: { requests: { cpu: '5' } }, allocatedResources: { cpu: '4' } };
    const whole = { ...spec, resources: { requests: { cpu: '3' } } };
    expect(requestsOf(requestingPod(whole, status)).get('cpu')).toBe(5000);
    expect(requestsOf(requestingPod(whole, { ...status, conditions: infeasible })).get('cpu')).toBe(5000);
  });
});

describe('scores count', () => {
  it('100m and 200 MiB for a container that states nothing, and an explicit zero as zero', () => {
    const pod = requestingPod({ containers: [container(), container({ cpu: '0', memory: '1Mi' })] });
    expect(nonZeroRequestsOf(pod)).toEqual({ cpu: 100, memory: 201 * MIB });
    expect(scoredRequestsOf(pod)).toEqual({ cpu: 100, memory: 201 * MIB });
  });

  it('requests of the pod as a whole once it is on a node, and not before', () => {
    const pod = requestingPod({
      containers: [container({ cpu: '1' })],
      resources: { requests: { cpu: '3' } },
    });
    expect(nonZeroRequestsOf(pod)).toEqual({ cpu: 3000, memory: 200 * MIB });
    expect(scoredRequestsOf(pod)).toEqual({ cpu: 1000, memory: 200 * MIB });
  });
});
