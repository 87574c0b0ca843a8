import type { ApiClient } from '@rollkeeper/client/api-client';
import { REVISION } from '@rollkeeper/controllers/deployment';
import type { SetRollout } from '@rollkeeper/controllers/set-rollouts';
import { statefulSetRollout } from '@rollkeeper/controllers/set-rollouts';
import { ControllerRevision } from '@rollkeeper/controllers/shared';
import type { Deployment, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Pod,
  isControlledBy,
  qualifiedResource,
  selectorText,
  writableCopy,
} from '@rollkeeper/machinery/kubernetes';
import { StatefulSet } from '@rollkeeper/runtime';
import { SystemClock } from '@rollkeeper/machinery/clock';

/** Whether a target is a StatefulSet, which is seen as a Deployment. */
export function isSetTarget({ type }: { readonly type: ResourceType }): boolean {
  return qualifiedResource(type) === qualifiedResource(StatefulSet);
}

/** A StatefulSet as a rollout, with its revisions and pods, from the API. @throws ApiStatusError (404) if there is none */
export async function readSetRollout(
  client: ApiClient,
  ref: ObjectRef,
  signal?: AbortSignal,
): Promise<SetRollout> {
  const set = await client.get<StatefulSet>(StatefulSet, ref, { signal });
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
  return statefulSetRollout(parts, new SystemClock().now());
}

/** The rollout of a StatefulSet as the target of commands. */
export async function findSetTarget(
  client: ApiClient,
  ref: ObjectRef,
  signal?: AbortSignal,
): Promise<{ readonly type: ResourceType; readonly deployment: Deployment }> {
  const { deployment } = await readSetRollout(client, ref, signal);
  return { type: StatefulSet, deployment: writableCopy<Deployment>(deployment) };
}

/**
 * Writes the template and the annotations of `wanted`, a StatefulSet that is seen as a Deployment, to the StatefulSet.
 * @throws ApiStatusError (409) if it has changed meanwhile
 */
export async function writeSet(client: ApiClient, wanted: Deployment): Promise<void> {
  const set = await client.get<StatefulSet>(StatefulSet, wanted.metadata);
  const { [REVISION]: _shown, ...annotations } = wanted.metadata.annotations ?? {};
  await client.update<StatefulSet>(StatefulSet, {
    ...set,
    metadata: {
      ...set.metadata,
      resourceVersion: wanted.metadata.resourceVersion,
      annotations: { ...set.metadata.annotations, ...annotations },
    },
    spec: { ...set.spec, template: wanted.spec.template },
  });
}
