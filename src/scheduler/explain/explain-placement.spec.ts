import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { Node, Pod } from '../../machinery/kubernetes/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { defaultConfiguration } from '../config/compile-configuration.js';
import type { ClusterView } from '../framework/cluster-view.js';
import { profilesFor } from '../run/default-catalog.js';
import { explainPlacement } from './explain-placement.js';

const view: ClusterView = { get: () => undefined, list: () => [] };
const profiles = profilesFor(defaultConfiguration(), [], { view, log: silentLogger });

function aNode(name: string, spec: Node['spec'] = {}, labels: Record<string, string> = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } },
  };
}

function aWaitingPod(spec: Partial<Pod['spec']> = {}): Pod {
  const pod = aPod({ name: 'p', phase: 'Pending' });
  return { ...pod, spec: { ...pod.spec, ...spec } };
}

const asks = (cpu: string): Partial<Pod['spec']> => ({
  containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
});

const explain = (pod: Pod, nodes: readonly Node[] = [aNode('a'), aNode('b')], pods: readonly Pod[] = []) =>
  explainPlacement({ pod, nodes, pods, view, profiles, random: new SeededRandom(1) });

describe('why a pod is on no node', () => {
  it('is said by every plug-in about every node, and not by the first alone', () => {
    const tainted = aNode('a', {
      unschedulable: true,
      taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
    });
    const { message, nodes, state } = explain(aWaitingPod(asks('6')), [tainted]);
    expect(state).toBe('refused');
    expect(nodes[0]?.obstacles.map(({ plugin }) => plugin)).toEqual([
      'NodeUnschedulable',
      'TaintToleration',
      'NodeResourcesFit',
    ]);
    expect(message).toContain('0/1 nodes are available: 1 node(s) were unschedulable.');
  });

  it('is said with what would help', () => {
    const full = aPod({ name: 'full', node: 'b' });
    full.spec = { ...full.spec, ...asks('3') };
    const { nodes } = explain(
      aWaitingPod(asks('2')),
      [aNode('a', { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }), aNode('b')],
      [full],
    );
    const remedies = Object.fromEntries(nodes.map(({ node, obstacles }) => [node, obstacles[0]?.remedy]));
    expect(remedies).toEqual({
      a: 'tolerate the taint gpu=yes:NoSchedule, or take it away',
      b: '1000m more cpu free (it asks for 2000m, 1000m are left)',
    });
  });

  it('names whom it would preempt', () => {
    const low = aPod({ name: 'low', node: 'a' });
    low.spec = { ...low.spec, ...asks('3') };
    const { preemption } = explain(aWaitingPod({ ...asks('2'), priority: 10 }), [aNode('a')], [low]);
    expect(preemption).toEqual({ node: 'a', victims: ['default/low'] });
  });

  it('is that no node comes into question at all', () => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    const { obstacles, summary } = explain(aWaitingPod({ volumes }));
    expect(obstacles).toMatchObject([{ reasons: ['persistentvolumeclaim "data" not found'] }]);
    expect(summary).toContain('persistentvolumeclaim "data" not found');
  });

  it.each<[string, Pod, string]>([
    ['it is on one', { ...aPod({ name: 'p', node: 'a' }) }, 'bound'],
    ['it has ended', aPod({ name: 'p', node: 'a', phase: 'Succeeded' }), 'ended'],
    [
      'it is being deleted',
      aPod({ name: 'p', phase: 'Pending', deletedAt: '2026-01-01T00:00:00Z' }),
      'deleting',
    ],
    ['it is gated', aWaitingPod({ schedulingGates: [{ name: 'g' }] }), 'gated'],
    ['another scheduler is asked for', aWaitingPod({ schedulerName: 'other' }), 'elsewhere'],
    ['it has a place', aWaitingPod(), 'waits'],
  ])('may be that %s', (_why, pod, state) => {
    expect(explain(pod).state).toBe(state);
  });
});
