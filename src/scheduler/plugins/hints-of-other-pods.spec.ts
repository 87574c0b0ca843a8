import { describe, expect, it } from 'vitest';
import {
  type Case,
  podWith,
  aNode,
  labelled,
  required,
  spreading,
  wakes,
  web,
  onNode,
} from './hints.fixture.js';

describe('a pod that was refused for other pods by', () => {
  it.each<[plugin: string, what: string, does: boolean, Omit<Case, 'plugin'>]>([
    [
      'PodTopologySpread',
      'is woken when a pod that counts goes',
      true,
      {
        pod: podWith('waiting', spreading),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', onNode, web),
      },
    ],
    [
      'PodTopologySpread',
      'sleeps when one of another kind goes',
      false,
      {
        pod: podWith('waiting', spreading),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', onNode),
      },
    ],
    [
      'PodTopologySpread',
      'sleeps when one of another namespace goes',
      false,
      {
        pod: podWith('waiting', spreading),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', onNode, { metadata: { namespace: 'b', labels: { app: 'web' } } }),
      },
    ],
    [
      'PodTopologySpread',
      'is woken when its own tolerations change and taints matter',
      true,
      {
        pod: podWith('waiting', spreading),
        resource: 'pods',
        action: 'update-pod-tolerations',
        before: podWith('waiting'),
        after: podWith('waiting', { tolerations: [{ operator: 'Exists' }] }),
      },
    ],
    [
      'PodTopologySpread',
      'is woken when a node moves to another zone',
      true,
      {
        pod: podWith('waiting', spreading),
        resource: 'nodes',
        action: 'update-node-labels',
        before: aNode(labelled({ zone: 'a' })),
        after: aNode(labelled({ zone: 'b' })),
      },
    ],
    [
      'PodTopologySpread',
      'sleeps when a node without a zone comes',
      false,
      { pod: podWith('waiting', spreading), resource: 'nodes', action: 'add', after: aNode() },
    ],
    [
      'InterPodAffinity',
      'is woken when a pod comes that it wants near',
      true,
      {
        pod: podWith('waiting', { affinity: { podAffinity: required } }),
        resource: 'pods',
        action: 'add',
        after: podWith('x', onNode, web),
      },
    ],
    [
      'InterPodAffinity',
      'sleeps when another comes',
      false,
      {
        pod: podWith('waiting', { affinity: { podAffinity: required } }),
        resource: 'pods',
        action: 'add',
        after: podWith('x', onNode),
      },
    ],
    [
      'InterPodAffinity',
      'sleeps while that pod has no node',
      false,
      {
        pod: podWith('waiting', { affinity: { podAffinity: required } }),
        resource: 'pods',
        action: 'add',
        after: podWith('x', {}, web),
      },
    ],
    [
      'InterPodAffinity',
      'is woken when a pod goes that it avoids',
      true,
      {
        pod: podWith('waiting', { affinity: { podAntiAffinity: required } }),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', onNode, web),
      },
    ],
    [
      'InterPodAffinity',
      'is woken when a pod goes that avoids it',
      true,
      {
        pod: podWith('waiting', {}, web),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', { affinity: { podAntiAffinity: required }, ...onNode }),
      },
    ],
    [
      'InterPodAffinity',
      'sleeps when a node comes without the domain',
      false,
      {
        pod: podWith('waiting', { affinity: { podAntiAffinity: required } }),
        resource: 'nodes',
        action: 'add',
        after: aNode(),
      },
    ],
  ])('%s %s', (plugin, _what, does, given) => {
    expect(wakes({ plugin, ...given })).toBe(does);
  });
});
