import { describe, expect, it } from 'vitest';
import type { Node } from '../../runtime/index.js';
import { RegisteredNodes } from './node-lifecycle-controller.js';

const aNode = (uid: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid } });

describe('a node', () => {
  it('is reported once when it comes, and when it goes', () => {
    const nodes = new RegisteredNodes();
    const told = [aNode('1'), aNode('1'), aNode('2'), undefined, undefined].map((node) => {
      const change = nodes.note('n', node);
      return change && `${change.node.metadata.uid}: ${change.event.reason}: ${change.event.message}`;
    });
    expect(told).toEqual([
      '1: RegisteredNode: Node n event: Registered Node n in Controller',
      undefined,
      '2: RegisteredNode: Node n event: Registered Node n in Controller',
      '2: RemovingNode: Node n event: Removing Node n from Controller',
      undefined,
    ]);
    nodes.note('n', aNode('3'));
    nodes.reset();
    expect(nodes.note('n', aNode('3'))?.event.reason).toBe('RegisteredNode');
  });
});
