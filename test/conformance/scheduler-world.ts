import type { DeepReadonly, KubernetesObject, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView, ReadableNode, ReadablePod, ViewedResource } from '@rollkeeper/scheduler';
import { SchedulerCache, podInfoOf } from '@rollkeeper/scheduler';
import type { JsonObject } from './conformance-format.js';

/** A pod as recordings have it: trimmed to what the scheduler reads. */
export interface RecordedPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly terminating?: boolean;
  readonly spec: JsonObject;
  readonly phase?: NonNullable<Pod['status']>['phase'];
  readonly startTime?: string;
  readonly nominatedNodeName?: string;
}

type Entry = JsonObject & { readonly name: string; readonly namespace?: string };
type Kind = readonly [resource: ViewedResource, toObject: (entry: Entry) => object];

/** Everything that the scheduler could see. */
export interface RecordedWorld {
  readonly nodes: readonly Entry[];
  readonly pods: readonly RecordedPod[];
  readonly [kind: string]: readonly unknown[] | undefined;
}

const SOME_TIME = '2026-01-01T00:00:00Z';

/** How each list of a world reads as objects, beside nodes and pods. */
const KINDS: Readonly<Record<string, Kind>> = {
  namespaces: ['namespaces', () => ({})],
  services: ['services', ({ selector }) => ({ spec: { selector } })],
  replicaSets: ['apps/replicasets', ({ selector }) => ({ spec: { selector } })],
  statefulSets: ['apps/statefulsets', ({ selector }) => ({ spec: { selector } })],
  pdbs: [
    'policy/poddisruptionbudgets',
    ({ disruptedPods, disruptionsAllowed, selector }) => ({
      spec: { selector },
      status: { disruptionsAllowed, disruptedPods },
    }),
  ],
  pvcs: ['persistentvolumeclaims', toClaim],
  pvs: ['persistentvolumes', toVolume],
  classes: ['storage.k8s.io/storageclasses', (entry) => entry],
  csiDrivers: ['storage.k8s.io/csidrivers', (entry) => ({ spec: entry })],
  csiNodes: ['storage.k8s.io/csinodes', ({ drivers }) => ({ spec: { drivers } })],
  csiStorageCapacities: ['storage.k8s.io/csistoragecapacities', (entry) => entry],
  deviceClasses: ['resource.k8s.io/deviceclasses', ({ spec }) => ({ spec })],
  resourceSlices: ['resource.k8s.io/resourceslices', ({ spec }) => ({ spec })],
  resourceClaims: ['resource.k8s.io/resourceclaims', toResourceClaim],
};

function toClaim({
  accessModes,
  bound,
  phase,
  request,
  selectedNode,
  storageClassName,
  volumeName,
  ...rest
}: Entry) {
  return {
    spec: {
      ...rest,
      accessModes,
      storageClassName,
      volumeName,
      resources: { requests: { storage: request } },
    },
    status: { phase },
    annotations: {
      ...(bound === true && { 'pv.kubernetes.io/bind-completed': 'yes' }),
      ...(typeof selectedNode === 'string' && { 'volume.kubernetes.io/selected-node': selectedNode }),
    },
  };
}

function toVolume({ capacity, phase, source, ...spec }: Entry) {
  return { spec: { ...spec, ...(source as object), capacity: { storage: capacity } }, status: { phase } };
}

function toResourceClaim({ allocation, reservedFor, spec }: Entry) {
  const users = (reservedFor ?? []) as readonly string[];
  return {
    spec,
    status: { allocation, reservedFor: users.map((name) => ({ resource: 'pods', name, uid: name })) },
  };
}

/** A world as its caches show it. */
export class SchedulerWorld {
  readonly cache = new SchedulerCache();
  readonly view: ClusterView;

  constructor(world: RecordedWorld) {
    for (const node of world.nodes) this.cache.setNode(toNode(node));
    for (const recorded of world.pods) this.addPod(recorded);
    this.view = viewOf(world);
  }

  private addPod(recorded: RecordedPod): void {
    const pod = toPod(recorded);
    const nominated = pod.status?.nominatedNodeName;
    this.cache.setPod(pod);
    if (!pod.spec.nodeName && nominated) this.cache.nominate(podInfoOf(pod), nominated);
  }
}

export function toPod(recorded: RecordedPod): ReadablePod {
  const { labels, name, namespace, nominatedNodeName, owner, phase, spec, startTime, terminating } = recorded;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ namespace, name, labels, uid: name },
      ...(owner && { ownerReferences: [{ ...owner, uid: owner.name, controller: true }] }),
      ...(terminating && { deletionTimestamp: SOME_TIME }),
    },
    spec: spec as unknown as Pod['spec'],
    status: { phase, startTime, nominatedNodeName },
  };
}

function toNode({
  allocatable,
  declaredFeatures,
  images,
  labels,
  name,
  taints,
  unschedulable,
}: Entry): ReadableNode {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { taints, unschedulable },
    status: { allocatable, images, declaredFeatures },
  } as unknown as Node;
}

function viewOf(world: RecordedWorld): ClusterView {
  const objects = new Map<ViewedResource, Map<string, KubernetesObject>>();
  for (const [list, [resource, toObject]] of Object.entries(KINDS)) {
    const byKey = new Map<string, KubernetesObject>();
    for (const entry of (world[list] ?? []) as readonly Entry[]) {
      const { name, namespace } = entry;
      const { annotations, ...parts } = toObject(entry) as { annotations?: Record<string, string> };
      const labels = {
        ...(entry['labels'] as Record<string, string> | undefined),
        ...(list === 'namespaces' && { 'kubernetes.io/metadata.name': name }),
      };
      const metadata = { name, namespace, labels, annotations, uid: name };
      byKey.set(keyOf({ name, namespace }), { apiVersion: '', kind: '', ...parts, metadata });
    }
    objects.set(resource, byKey);
  }
  return {
    get: <T extends KubernetesObject>(resource: ViewedResource, ref: { namespace?: string; name: string }) =>
      objects.get(resource)?.get(keyOf(ref)) as DeepReadonly<T> | undefined,
    list: <T extends KubernetesObject>(resource: ViewedResource, namespace?: string) =>
      [...(objects.get(resource)?.values() ?? [])].filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      ) as unknown as readonly DeepReadonly<T>[],
  };
}
