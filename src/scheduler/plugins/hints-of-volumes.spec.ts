import { describe, expect, it } from 'vitest';
import { type Case, object, podWith, aNode, claiming, wakes, onNode } from './hints.fixture.js';

describe('a pod that was refused for its volumes by', () => {
  it.each<[plugin: string, what: string, does: boolean, Omit<Case, 'plugin'>]>([
    [
      'VolumeRestrictions',
      'is woken when a pod with its claim goes',
      true,
      {
        pod: podWith('waiting', claiming('data')),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', claiming('data')),
      },
    ],
    [
      'VolumeRestrictions',
      'sleeps when one with another claim goes',
      false,
      {
        pod: podWith('waiting', claiming('data')),
        resource: 'pods',
        action: 'delete',
        before: podWith('x', claiming('logs')),
      },
    ],
    [
      'NodeVolumeLimits',
      'is woken when a limit is raised',
      true,
      {
        resource: 'storage.k8s.io/csinodes',
        action: 'update',
        before: object('n', { spec: { drivers: [{ name: 'd', allocatable: { count: 1 } }] } }),
        after: object('n', { spec: { drivers: [{ name: 'd', allocatable: { count: 2 } }] } }),
      },
    ],
    [
      'NodeVolumeLimits',
      'sleeps when one is lowered',
      false,
      {
        resource: 'storage.k8s.io/csinodes',
        action: 'update',
        before: object('n', { spec: { drivers: [{ name: 'd', allocatable: { count: 2 } }] } }),
        after: object('n', { spec: { drivers: [{ name: 'd', allocatable: { count: 1 } }] } }),
      },
    ],
    [
      'VolumeBinding',
      'is woken when its claim changes',
      true,
      {
        pod: podWith('waiting', claiming('data')),
        resource: 'persistentvolumeclaims',
        action: 'update',
        before: object('data'),
        after: object('data'),
      },
    ],
    [
      'VolumeBinding',
      'sleeps when another claim does',
      false,
      {
        pod: podWith('waiting', claiming('data')),
        resource: 'persistentvolumeclaims',
        action: 'update',
        before: object('logs'),
        after: object('logs'),
      },
    ],
    [
      'VolumeBinding',
      'is woken when there is more room for volumes',
      true,
      {
        resource: 'storage.k8s.io/csistoragecapacities',
        action: 'update',
        before: object('c', { capacity: '1Gi' }),
        after: object('c', { capacity: '2Gi' }),
      },
    ],
    [
      'VolumeBinding',
      'sleeps when there is less',
      false,
      {
        resource: 'storage.k8s.io/csistoragecapacities',
        action: 'update',
        before: object('c', { capacity: '2Gi' }),
        after: object('c', { capacity: '1Gi' }),
      },
    ],
    [
      'VolumeZone',
      'sleeps when a volume changes but for its zone',
      false,
      { resource: 'persistentvolumes', action: 'update', before: object('v'), after: object('v') },
    ],
    [
      'DynamicResources',
      'is woken when devices of another claim become free',
      true,
      {
        resource: 'resource.k8s.io/resourceclaims',
        action: 'update',
        before: object('c', { spec: {}, status: { allocation: {} } }),
        after: object('c', { spec: {}, status: {} }),
      },
    ],
    [
      'DynamicResources',
      'sleeps when another claim changes',
      false,
      {
        resource: 'resource.k8s.io/resourceclaims',
        action: 'update',
        before: object('c', { spec: {} }),
        after: object('c', { spec: {}, status: { reservedFor: [] } }),
      },
    ],
    [
      'DefaultPreemption',
      'sleeps when a pod goes: the plug-ins that refused it judge that',
      false,
      { resource: 'pods', action: 'delete', before: podWith('x', onNode) },
    ],
    [
      'NodeDeclaredFeatures',
      'is woken when a node declares all it needs',
      true,
      { resource: 'nodes', action: 'update-node-declared-features', before: aNode(), after: aNode() },
    ],
  ])('%s %s', (plugin, _what, does, given) => {
    expect(wakes({ plugin, ...given })).toBe(does);
  });
});
