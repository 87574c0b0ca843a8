import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden } from '@rollkeeper/client/api-client';
import { REVISION } from '@rollkeeper/controllers/deployment';
import type { PlaceNode, SetRollout } from '@rollkeeper/controllers/set-rollouts';
import { daemonSetRollout, placeOf, statefulSetRollout } from '@rollkeeper/controllers/set-rollouts';
import { ControllerRevision } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, Deployment, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Node,
  Pod,
  isControlledBy,
  qualifiedResource,
  selectorText,
  writableCopy,
} from '@rollkeeper/machinery/kubernetes';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import { SystemClock } from '@rollkeeper/machinery/clock';

/** A StatefulSet or a DaemonSet, with its spec as both have it. */
type AnySet = StatefulSet | DaemonSet;

const SETS: readonly ResourceType[] = [StatefulSet, DaemonSet];

/** Whether a target is a DaemonSet, whose controller wants a pod on each node that suits. */
export function isPerNode({ type }: { readonly type: ResourceType }): boolean {
  return qualifiedResource(type) === qualifiedResource(DaemonSet);
}

/** Whether a target is a StatefulSet or a DaemonSet, which is seen as a Deployment. */
export function isSetTarget({ type }: { readonly type: ResourceType }): boolean {
  return SETS.some((each) => qualifiedResource(each) === qualifiedResource(type));
}

interface SetPartsOf {
  readonly set: DeepReadonly<AnySet>;
  readonly revisions: readonly DeepReadonly<ControllerRevision>[];
  readonly pods: readonly DeepReadonly<Pod>[];
  /**
   * The nodes that the pods of a DaemonSet are for: pods on nodes that should have none have no part in its rollout.
   * @default not known: all pods count, and as many as its controller has counted are wanted
   */
  readonly nodes?: readonly DeepReadonly<PlaceNode>[] | undefined;
}

/** The rollout of a set of this type. */
export function setRollout(
  type: ResourceType,
  { nodes, pods, revisions, set }: SetPartsOf,
  nowMs: number,
): SetRollout {
  return isPerNode({ type })
    ? daemonSetRollout(
        { set: set as DeepReadonly<DaemonSet>, revisions, pods, ...(nodes && { nodes }) },
        nowMs,
      )
    : statefulSetRollout({ set: set as DeepReadonly<StatefulSet>, revisions, pods }, nowMs);
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the nodes are listed that the pods of a DaemonSet are for: all of the cluster, which costs. @default true */
  readonly withNodes?: boolean;
}

/** A set as a rollout, with its revisions and pods, from the API. @throws ApiStatusError (404) if there is none */
export async function readSetRollout(
  client: ApiClient,
  type: ResourceType,
  ref: ObjectRef,
  { signal, withNodes = true }: ReadOptions = {},
): Promise<SetRollout> {
  const set = await client.get<AnySet>(type, ref, { signal });
  const { namespace } = set.metadata;
  const labelSelector = selectorText(set.spec.selector);
  const [revisions, pods, nodes] = await Promise.all([
    client.list<ControllerRevision>(ControllerRevision, { namespace, signal }),
    client.list<Pod>(Pod, { namespace, labelSelector, signal }),
    withNodes && isPerNode({ type }) ? readNodes(client, signal) : undefined,
  ]);
  const parts = {
    set,
    revisions: revisions.items.filter((revision) => isControlledBy(revision, set)),
    pods: pods.items.filter((pod) => isControlledBy(pod, set)),
    nodes,
  };
  return setRollout(type, parts, new SystemClock().now());
}

/** Many users who may read a DaemonSet may not read nodes: then they are not known. */
async function readNodes(
  client: ApiClient,
  signal: AbortSignal | undefined,
): Promise<readonly PlaceNode[] | undefined> {
  try {
    return (await client.list<Node>(Node, { signal })).items.map(placeOf);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** The rollout of a set as the target of commands. */
export async function findSetTarget(
  client: ApiClient,
  type: ResourceType,
  ref: ObjectRef,
  signal?: AbortSignal,
): Promise<{ readonly type: ResourceType; readonly deployment: Deployment }> {
  const { deployment } = await readSetRollout(client, type, ref, { signal, withNodes: false });
  return { type, deployment: writableCopy<Deployment>(deployment) };
}

/**
 * Writes the template and the annotations of `wanted`, a set that is seen as a Deployment, to the set.
 * @throws ApiStatusError (409) if it has changed meanwhile
 */
export async function writeSet(client: ApiClient, type: ResourceType, wanted: Deployment): Promise<void> {
  const set = await client.get<AnySet>(type, wanted.metadata);
  const { [REVISION]: _shown, ...annotations } = wanted.metadata.annotations ?? {};
  await client.update(type, {
    ...set,
    metadata: {
      ...set.metadata,
      resourceVersion: wanted.metadata.resourceVersion,
      annotations: { ...set.metadata.annotations, ...annotations },
    },
    spec: { ...set.spec, template: wanted.spec.template },
  });
}
