import { describe, expect, it } from 'vitest';
import type { Node } from '../../machinery/kubernetes/index.js';
import { decideTaints, silencedConditions } from './decide-node.js';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const now = '2026-01-01T00:10:00Z';

type Spec = NonNullable<Node['spec']>;

function aNode(conditions: Record<string, string>, spec: Spec = {}): Node {
  return {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, spec },
    status: {
      conditions: Object.entries(conditions).map(([type, status]) => ({
        ...{ type, status: status as 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' },
      })),
    },
  };
}

const WELL = { Ready: 'True', MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False' };
const LOST = { Ready: 'Unknown', MemoryPressure: 'Unknown', DiskPressure: 'Unknown', PIDPressure: 'Unknown' };

describe('a silent node', () => {
  it('has no condition that anybody knows of, and keeps the time of its last heartbeat', () => {
    const conditions = silencedConditions(aNode(WELL), nowMs);
    expect(conditions).toHaveLength(4);
    expect(conditions?.[0]).toEqual({
      ...{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: now },
      message: 'Kubelet stopped posting node status.',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
    });
  });

  it('is given its conditions if it has never said anything', () => {
    const conditions = silencedConditions(aNode({}), nowMs);
    expect(conditions?.map(({ reason, type }) => [type, reason])).toEqual(
      ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => [
        type,
        'NodeStatusNeverUpdated',
      ]),
    );
  });

  it('is written once', () => {
    expect(silencedConditions(aNode(LOST), nowMs)).toBeUndefined();
  });
});

describe('the taints of a node', () => {
  const taintsOf = (node: Node, evicts = true) =>
    decideTaints(node, evicts, nowMs)?.map(({ effect, key }) => `${key}:${effect}`);
  const theirs = { key: 'dedicated', value: 'db', effect: 'NoExecute' as const };

  it.each([
    { name: 'a ready node', node: aNode(WELL), taints: undefined },
    {
      name: 'a ready node with a taint of its owner',
      node: aNode(WELL, { taints: [theirs] }),
      taints: undefined,
    },
    {
      name: 'a node that is not ready',
      node: aNode({ Ready: 'False' }),
      taints: ['node.kubernetes.io/not-ready:NoSchedule', 'node.kubernetes.io/not-ready:NoExecute'],
    },
    { name: 'a node that nobody has heard of yet', node: aNode({}), taints: undefined },
    {
      name: 'a silent node',
      node: aNode(LOST, { taints: [theirs] }),
      taints: [
        'dedicated:NoExecute',
        'node.kubernetes.io/unreachable:NoSchedule',
        'node.kubernetes.io/unreachable:NoExecute',
      ],
    },
    {
      name: 'a cordoned node under pressure',
      node: aNode({ ...WELL, DiskPressure: 'True' }, { unschedulable: true }),
      taints: ['node.kubernetes.io/disk-pressure:NoSchedule', 'node.kubernetes.io/unschedulable:NoSchedule'],
    },
    {
      name: 'one that has come back',
      node: aNode(WELL, { taints: [theirs, { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] }),
      taints: ['dedicated:NoExecute'],
    },
  ])('are, if it is $name, $taints', ({ node, taints }) => {
    expect(taintsOf(node)).toEqual(taints);
  });

  it('drive nobody away while no node at all is ready', () => {
    expect(taintsOf(aNode(LOST), false)).toEqual(['node.kubernetes.io/unreachable:NoSchedule']);
  });
});
