import { describe, expect, it } from 'vitest';
import type { Node, Pod, PodSpec } from '../machinery/kubernetes/index.js';
import type { Candidate, NodeLoad } from './decide-scheduling.js';
import { decideScheduling, wantsScheduling } from './decide-scheduling.js';

function aNode(
  index: number,
  load: Partial<NodeLoad> & { siblings?: number } = {},
  spec: Node['spec'] = {},
): Candidate {
  const { siblings = 0, ...rest } = load;
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${index}`, labels: { zone: index === 0 ? 'a' : 'b' } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } },
  };
  return { node, siblings, load: { cpu: 0, memory: 0, pods: 0, ...rest } };
}

function aPod(spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  };
}

const asking = (requests: Record<string, string>): Pod =>
  aPod({ containers: [{ name: 'main', image: 'nginx', resources: { requests } }] });

describe('decideScheduling', () => {
  it('takes the node with the fewest pods, of several the first', () => {
    const load = { pods: 2 };
    expect(decideScheduling(aPod(), [aNode(0, load), aNode(1), aNode(2)])).toEqual({ node: 'node-1' });
  });

  it('takes the node with the fewest pods of the same controller, whatever else it has', () => {
    const candidates = [aNode(0, { pods: 1, siblings: 1 }), aNode(1, { pods: 8 }), aNode(2, { pods: 7 })];
    expect(decideScheduling(aPod(), candidates)).toEqual({ node: 'node-2' });
    const even = [aNode(0, { pods: 3, siblings: 1 }), aNode(1, { pods: 2, siblings: 1 })];
    expect(decideScheduling(aPod(), even)).toEqual({ node: 'node-1' });
  });

  it('respects the nodeSelector', () => {
    const pod = aPod({ nodeSelector: { zone: 'a' } });
    expect(decideScheduling(pod, [aNode(0, { pods: 9 }), aNode(1)])).toEqual({ node: 'node-0' });
  });

  it.each<[string, Pod, Candidate[], string]>([
    [
      'labels',
      aPod({ nodeSelector: { zone: 'c' } }),
      [aNode(0), aNode(1)],
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
    ],
    [
      'cordons',
      aPod(),
      [aNode(0, {}, { unschedulable: true })],
      '0/1 nodes are available: 1 node(s) were unschedulable.',
    ],
    [
      'cpu',
      asking({ cpu: '500m' }),
      [aNode(0, { cpu: 3.6 })],
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    ['memory', asking({ memory: '9Gi' }), [aNode(0)], '0/1 nodes are available: 1 Insufficient memory.'],
    ['the number of pods', aPod(), [aNode(0, { pods: 10 })], '0/1 nodes are available: 1 Too many pods.'],
    [
      'taints',
      aPod(),
      [aNode(0, {}, { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] })],
      '0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}.',
    ],
    ['the absence of nodes', aPod(), [], 'no nodes available to schedule pods'],
  ])('says that it is for %s', (_name, pod, candidates, unschedulable) => {
    expect(decideScheduling(pod, candidates)).toEqual({ unschedulable });
  });

  it('puts a pod that tolerates a taint on the tainted node', () => {
    const taints = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' as const }];
    const pod = aPod({ tolerations: [{ key: 'gpu', operator: 'Exists' }] });
    expect(decideScheduling(pod, [aNode(0, {}, { taints })])).toEqual({ node: 'node-0' });
  });
});

describe('wantsScheduling', () => {
  it('leaves alone what is placed, gated, on its way out, or for another scheduler', () => {
    expect(wantsScheduling(aPod())).toBe(true);
    expect(wantsScheduling(aPod({ nodeName: 'node-0' }))).toBe(false);
    expect(wantsScheduling(aPod({ schedulerName: 'mine' }))).toBe(false);
    expect(wantsScheduling(aPod({ schedulingGates: [{ name: 'gate' }] }))).toBe(false);
    const leaving = aPod();
    leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(wantsScheduling(leaving)).toBe(false);
  });
});
