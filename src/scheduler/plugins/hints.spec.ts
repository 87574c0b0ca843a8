import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { viewOf } from '../decide/random-world.fixture.js';
import { DEFAULT_PLUGINS } from '../run/default-plugins.js';
import {
  type Case,
  podWith,
  aNode,
  labelled,
  withAllocatable,
  asking,
  onPort,
  wakes,
  onNode,
} from './hints.fixture.js';

describe('a pod that was refused by', () => {
  it.each<[plugin: string, what: string, does: boolean, Omit<Case, 'plugin'>]>([
    [
      'SchedulingGates',
      'is woken when its own gates are gone',
      true,
      {
        resource: 'pods',
        action: 'update-pod-scheduling-gates-eliminated',
        before: podWith('waiting'),
        after: podWith('waiting'),
      },
    ],
    [
      'SchedulingGates',
      'sleeps when those of another are',
      false,
      {
        resource: 'pods',
        action: 'update-pod-scheduling-gates-eliminated',
        before: podWith('x'),
        after: podWith('x'),
      },
    ],
    [
      'NodeUnschedulable',
      'is woken when a cordon is lifted',
      true,
      {
        resource: 'nodes',
        action: 'update-node-taints',
        before: aNode({ spec: { unschedulable: true } }),
        after: aNode(),
      },
    ],
    [
      'NodeUnschedulable',
      'sleeps when another taint goes',
      false,
      { resource: 'nodes', action: 'update-node-taints', before: aNode(), after: aNode() },
    ],
    [
      'NodeUnschedulable',
      'sleeps when a cordoned node comes',
      false,
      { resource: 'nodes', action: 'add', after: aNode({ spec: { unschedulable: true } }) },
    ],
    [
      'TaintToleration',
      'is woken when a taint goes',
      true,
      {
        resource: 'nodes',
        action: 'update-node-taints',
        before: aNode({ spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
        after: aNode(),
      },
    ],
    [
      'TaintToleration',
      'sleeps when one stays',
      false,
      {
        resource: 'nodes',
        action: 'update-node-taints',
        before: aNode(),
        after: aNode({ spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } }),
      },
    ],
    [
      'NodeAffinity',
      'is woken when a node gets the label',
      true,
      {
        pod: podWith('waiting', { nodeSelector: { disk: 'ssd' } }),
        resource: 'nodes',
        action: 'update-node-labels',
        before: aNode(),
        after: aNode(labelled({ disk: 'ssd' })),
      },
    ],
    [
      'NodeAffinity',
      'sleeps when a node had it before',
      false,
      {
        pod: podWith('waiting', { nodeSelector: { disk: 'ssd' } }),
        resource: 'nodes',
        action: 'update-node-labels',
        before: aNode(labelled({ disk: 'ssd' })),
        after: aNode(labelled({ disk: 'ssd', more: '1' })),
      },
    ],
    [
      'NodePorts',
      'is woken when a pod with its port goes',
      true,
      {
        pod: podWith('waiting', onPort(80)),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', { ...onPort(80), ...onNode }),
      },
    ],
    [
      'NodePorts',
      'sleeps when one with another port goes',
      false,
      {
        pod: podWith('waiting', onPort(80)),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', { ...onPort(81), ...onNode }),
      },
    ],
    [
      'NodeResourcesFit',
      'is woken when a pod goes',
      true,
      {
        pod: podWith('waiting', asking({ cpu: '1' })),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', onNode),
      },
    ],
    [
      'NodeResourcesFit',
      'sleeps when one goes that had no node',
      false,
      {
        pod: podWith('waiting', asking({ cpu: '1' })),
        resource: 'pods',
        action: 'delete',
        before: podWith('x'),
      },
    ],
    [
      'NodeResourcesFit',
      'is woken when another takes less of what it wants',
      true,
      {
        pod: podWith('waiting', asking({ cpu: '1' })),
        resource: 'pods',
        action: 'update-pod-scale-down',
        before: podWith('x', { ...asking({ cpu: '2' }), ...onNode }),
        after: podWith('x', { ...asking({ cpu: '1' }), ...onNode }),
      },
    ],
    [
      'NodeResourcesFit',
      'sleeps when another takes less of something else',
      false,
      {
        pod: podWith('waiting', asking({ cpu: '1' })),
        resource: 'pods',
        action: 'update-pod-scale-down',
        before: podWith('x', { ...asking({ memory: '2Gi' }), ...onNode }),
        after: podWith('x', { ...asking({ memory: '1Gi' }), ...onNode }),
      },
    ],
    [
      'NodeResourcesFit',
      'is woken when a node has more of what it wants',
      true,
      {
        pod: podWith('waiting', asking({ cpu: '2' })),
        resource: 'nodes',
        action: 'update-node-allocatable',
        before: aNode(withAllocatable({ cpu: '2' })),
        after: aNode(withAllocatable({ cpu: '3' })),
      },
    ],
    [
      'NodeResourcesFit',
      'sleeps when a node has more, but never enough',
      false,
      {
        pod: podWith('waiting', asking({ cpu: '4' })),
        resource: 'nodes',
        action: 'update-node-allocatable',
        before: aNode(withAllocatable({ cpu: '2' })),
        after: aNode(withAllocatable({ cpu: '3' })),
      },
    ],
    [
      'NodeResourcesFit',
      'sleeps when a node has more of something else',
      false,
      {
        pod: podWith('waiting', asking({ cpu: '1' })),
        resource: 'nodes',
        action: 'update-node-allocatable',
        before: aNode(withAllocatable({ cpu: '2' })),
        after: aNode(withAllocatable({ cpu: '2', memory: '1Gi' })),
      },
    ],
    [
      'NodeResourcesFit',
      'sleeps when labels change',
      false,
      { resource: 'nodes', action: 'update-node-labels', before: aNode(), after: aNode() },
    ],
  ])('%s %s', (plugin, _what, does, given) => {
    expect(wakes({ plugin, ...given })).toBe(does);
  });

  it('every filter says what may help, so that nothing else wakes the pod', () => {
    const handle = { view: viewOf({}), log: silentLogger };
    const silent = DEFAULT_PLUGINS.map(({ create }) => create(undefined, handle)).filter(
      (plugin) => (plugin.filter ?? plugin.preEnqueue) && plugin.eventsToRegister === undefined,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
