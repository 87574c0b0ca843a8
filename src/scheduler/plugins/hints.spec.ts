import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { viewOf } from '../decide/random-world.fixture.js';
import type { EventAction, EventResource } from '../framework/cluster-event.js';
import type { ClusterView } from '../framework/cluster-view.js';
import type { ReadablePod } from '../framework/node-info.js';
import { DEFAULT_PLUGINS } from './default-plugins.js';

type Parts = Readonly<Record<string, unknown>>;

const object = (name: string, parts: Parts = {}): KubernetesObject => ({
  ...{ apiVersion: '', kind: '' },
  ...parts,
  metadata: { name, uid: name, namespace: 'a', ...(parts['metadata'] as object | undefined) },
});
const podWith = (name: string, spec: Parts = {}, parts: Parts = {}): ReadablePod =>
  object(name, { ...parts, spec: { containers: [], ...spec } }) as unknown as ReadablePod;
const aNode = (parts: Parts = {}): KubernetesObject => object('node', parts);
const labelled = (labels: Record<string, string>): Parts => ({ metadata: { labels } });
const withAllocatable = (allocatable: Record<string, string>): Parts => ({
  status: { allocatable: { pods: '10', ...allocatable } },
});
const asking = (requests: Record<string, string>): Parts => ({
  containers: [{ name: 'c', resources: { requests } }],
});
const onPort = (hostPort: number): Parts => ({
  containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort }] }],
});
const claiming = (claimName: string): Parts => ({
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
});
const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } };
const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
const spreading = {
  topologySpreadConstraints: [
    { ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor' },
  ],
};

interface Case {
  readonly plugin: string;
  readonly pod?: ReadablePod;
  readonly resource: EventResource;
  readonly action: EventAction;
  readonly before?: KubernetesObject | ReadablePod;
  readonly after?: KubernetesObject | ReadablePod;
  readonly view?: ClusterView;
}

/** Whether the change wakes a pod that the plug-in refused; no registration means that it never does. */
function wakes({
  action,
  after,
  before,
  plugin,
  pod = podWith('waiting'),
  resource,
  view = viewOf({}),
}: Case): boolean {
  const entry = DEFAULT_PLUGINS.find(({ name }) => name === plugin)!;
  const registered = entry.create(undefined, { view, log: silentLogger }).eventsToRegister ?? [];
  return registered.some(
    ({ event, hint }) =>
      event.resource === resource &&
      event.actions.includes(action) &&
      (hint?.(pod, before, after) ?? 'Queue') === 'Queue',
  );
}

const web = labelled({ app: 'web' });
const onNode = { nodeName: 'node' };

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

  it('every filter says what may help, so that nothing else wakes the pod', () => {
    const handle = { view: viewOf({}), log: silentLogger };
    const silent = DEFAULT_PLUGINS.map(({ create }) => create(undefined, handle)).filter(
      (plugin) => (plugin.filter ?? plugin.preEnqueue) && plugin.eventsToRegister === undefined,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
