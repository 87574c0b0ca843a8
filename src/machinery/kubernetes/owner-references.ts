import type { DeepReadonly, KubernetesObject, OwnerReference } from './objects.js';

type Readable = DeepReadonly<Pick<KubernetesObject, 'metadata'>>;

/** The owner reference of the managing controller, if any. */
export function controllerOf(object: Readable): DeepReadonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/**
 * Whether `owner` is the managing controller of `object`, by UID. An owner in a namespace controls nothing in another one, regardless of what the
 * author of an object there claims.
 */
export function isControlledBy(object: Readable, owner: Readable): boolean {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid === owner.metadata.uid && isInReach(object, owner);
}

/** Whether an owner is in the namespace of `object`, or in none: others own nothing there, regardless of a reference. */
export function isInReach(object: Readable, { metadata: { namespace } }: Readable): boolean {
  return namespace === undefined || namespace === object.metadata.namespace;
}

/** The UIDs of all owners. */
export function ownerUids({ metadata: { ownerReferences } }: Readable): readonly string[] {
  return ownerReferences?.map(({ uid }) => uid) ?? NONE;
}

const NONE: readonly string[] = [];

/** The controller reference from a child to `owner`. */
export function newControllerRef(owner: DeepReadonly<KubernetesObject>): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}
