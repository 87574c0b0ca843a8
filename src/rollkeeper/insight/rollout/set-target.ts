import type { ApiClient } from '@rollkeeper/client/api-client';
import { REVISION } from '@rollkeeper/controllers/deployment';
import type { SetRollout } from '@rollkeeper/controllers/set-rollouts';
import { daemonSetRollout, statefulSetRollout } from '@rollkeeper/controllers/set-rollouts';
import { ControllerRevision } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, Deployment, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
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

/** Whether a target is a StatefulSet or a DaemonSet, which is seen as a Deployment. */
export function isSetTarget({ type }: { readonly type: ResourceType }): boolean {
  return SETS.some((each) => qualifiedResource(each) === qualifiedResource(type));
}

interface SetPartsOf {
  readonly set: DeepReadonly<AnySet>;
  readonly revisions: readonly DeepReadonly<ControllerRevision>[];
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** The rollout of a set of this type. */
export function setRollout(
  type: ResourceType,
  { pods, revisions, set }: SetPartsOf,
  nowMs: number,
): SetRollout {
  return qualifiedResource(type) === qualifiedResource(DaemonSet)
    ? daemonSetRollout({ set: set as DeepReadonly<DaemonSet>, revisions, pods }, nowMs)
    : statefulSetRollout({ set: set as DeepReadonly<StatefulSet>, revisions, pods }, nowMs);
}

/** A set as a rollout, with its revisions and pods, from the API. @throws ApiStatusError (404) if there is none */
export async function readSetRollout(
  client: ApiClient,
  type: ResourceType,
  ref: ObjectRef,
  signal?: AbortSignal,
): Promise<SetRollout> {
  const set = await client.get<AnySet>(type, ref, { signal });
  const { namespace } = set.metadata;
  const labelSelector = selectorText(set.spec.selector);
  const [revisions, pods] = await Promise.all([
    client.list<ControllerRevision>(ControllerRevision, { namespace, signal }),
    client.list<Pod>(Pod, { namespace, labelSelector, signal }),
  ]);
  const parts = {
    set,
    revisions: revisions.items.filter((revision) => isControlledBy(revision, set)),
    pods: pods.items.filter((pod) => isControlledBy(pod, set)),
  };
  return setRollout(type, parts, new SystemClock().now());
}

/** The rollout of a set as the target of commands. */
export async function findSetTarget(
  client: ApiClient,
  type: ResourceType,
  ref: ObjectRef,
  signal?: AbortSignal,
): Promise<{ readonly type: ResourceType; readonly deployment: Deployment }> {
  const { deployment } = await readSetRollout(client, type, ref, signal);
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
