import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Deployment, KubernetesObject, Pod, Replacement } from '@rollkeeper/machinery/kubernetes';
import {
  cloneJson,
  controllerOf,
  decideReplacement,
  EVICTION_ASKED,
  isEvictionToBeNoted,
  objectOfKind,
} from '@rollkeeper/machinery/kubernetes';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { contextOf, storageKeyOf } from './registry-context.js';
import { updateObject } from './update-object.js';

export interface FoundReplacement {
  readonly replacement: Replacement;
  /** The Deployment's name. */
  readonly by: string;
}

/** The answer of the Deployment that controls the pod to its eviction; undefined if there is none. */
export async function findReplacement(
  context: RegistryContext,
  pod: Pod,
): Promise<FoundReplacement | undefined> {
  if (pod.status?.phase !== 'Running') return undefined;
  const replicaSet = await readController(context, pod);
  const deployment = replicaSet && (await readController<Deployment>(context, replicaSet));
  if (replicaSet?.kind !== 'ReplicaSet' || deployment?.kind !== 'Deployment') return undefined;
  const namespace = await readNamespace(context, pod.metadata.namespace ?? '');
  const replacement = decideReplacement(pod, deployment, namespace?.metadata.annotations);
  return { replacement, by: deployment.metadata.name };
}

/**
 * Records on the pod that its eviction was requested, for the controller of its Deployment. Not by every request of a drain.
 */
export async function noteAsked(
  context: RegistryContext,
  target: ObjectTarget,
  pod: Pod,
  { dryRun }: { readonly dryRun: boolean },
): Promise<void> {
  const nowMs = context.clock.now();
  if (dryRun || !isEvictionToBeNoted(pod, nowMs)) return;
  await updateObject(
    context,
    target,
    (current) => {
      const noted = cloneJson(current);
      // Another pod of the name is not meant.
      if (noted.metadata.uid !== pod.metadata.uid) return noted;
      delete noted.metadata.resourceVersion;
      noted.metadata.annotations = { ...noted.metadata.annotations, [EVICTION_ASKED]: toRfc3339(nowMs) };
      return noted;
    },
    { subresource: '', dryRun: false, admission: 'done' },
  );
}

/** By its UID, so that it is not another one of the name. */
async function readController<T extends KubernetesObject>(
  context: RegistryContext,
  object: KubernetesObject,
): Promise<T | undefined> {
  const owner = controllerOf(object);
  const kind = owner && context.kinds.findByKind(owner.apiVersion, owner.kind);
  if (!owner || !kind?.type.namespaced) return undefined;
  const { namespace = '' } = object.metadata;
  const key = storageKeyOf({ kind, namespace, name: owner.name });
  const found = (await contextOf(context, kind).storage.get(key))?.object;
  return found?.metadata.uid === owner.uid ? objectOfKind<T>(found) : undefined;
}

async function readNamespace(context: RegistryContext, name: string): Promise<KubernetesObject | undefined> {
  const kind = context.kinds.find('', 'v1', 'namespaces');
  if (!kind) return undefined;
  return (await context.storage.get(storageKeyOf({ kind, namespace: '', name })))?.object;
}
