import { describe, expect, it } from 'vitest';
import type { Node } from '../../machinery/kubernetes/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { decideExcess, decideGarbage, orphaned } from './decide-garbage.js';

const node = (taint?: string, ready = 'False'): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } },
  spec: taint === undefined ? {} : { taints: [{ key: taint, effect: 'NoExecute' }] },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const going = { deletedAt: '2026-01-01T00:00:00Z', node: 'node-1' };

describe('a pod', () => {
  it.each([
    { name: 'on its node stays', pod: aPod({ node: 'node-1' }), on: node(), action: 'keep' },
    { name: 'that waits for a node stays', pod: aPod(), on: undefined, action: 'keep' },
    {
      name: 'that was deleted before it had a node goes',
      pod: aPod({ deletedAt: going.deletedAt }),
      on: undefined,
      action: 'delete',
    },
    {
      name: 'without its node waits for it',
      pod: aPod({ node: 'node-1' }),
      on: undefined,
      action: 'wait-for-node',
    },
    { name: 'that is on its way out is left to its node', pod: aPod(going), on: node(), action: 'keep' },
    {
      name: 'on its way out of a node out of service goes',
      pod: aPod(going),
      on: node(OUT_OF_SERVICE),
      action: 'delete',
    },
    {
      name: 'on its way out of a node that is well is left to it, whatever its taints',
      pod: aPod(going),
      on: node(OUT_OF_SERVICE, 'True'),
      action: 'keep',
    },
  ])('$name', ({ action, on, pod }) => {
    expect(decideGarbage(pod, on).action).toBe(action);
  });

  it('has failed if it had not ended when its node went', () => {
    expect(orphaned(aPod({ node: 'node-1' })).phase).toBe('Failed');
    expect(orphaned(aPod({ node: 'node-1', phase: 'Succeeded' })).phase).toBeUndefined();
  });
});

it('the oldest go of ended pods that are too many', () => {
  const finished = [3, 1, 2].map((day) =>
    aPod({ name: `day-${day}`, phase: 'Succeeded', createdAt: `2026-01-0${day}T00:00:00Z` }),
  );
  expect(decideExcess(finished, 1).map(({ metadata }) => metadata.name)).toEqual(['day-1', 'day-2']);
  expect(decideExcess(finished, 3)).toEqual([]);
});
