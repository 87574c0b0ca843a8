import { InvalidOptionError, TerminalError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, OwnerReference } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, newControllerRef } from '@rollkeeper/machinery/kubernetes';

type Readable = DeepReadonly<KubernetesObject>;

/**
 * Makes `owner` the controller of `object`, in place: the object is deleted with it, and changes of the object wake the
 * owner if its controller `owns` the kind. No-op if that is so already.
 * @throws TerminalError if another controller has the object
 * @throws InvalidOptionError if the API would ignore the reference: an owner without a UID, or from another namespace
 */
export function setControllerReference(owner: Readable, object: KubernetesObject): void {
  const reference = referenceTo(owner, object);
  const controller = controllerOf(object);
  if (controller && controller.uid !== reference.uid)
    throw new TerminalError(
      `${object.kind} ${object.metadata.name} is controlled by ${controller.kind} ${controller.name}`,
    );
  replaceReference(object, reference);
}

/** Adds `owner` to the owners of `object`, in place. The object is deleted once its last owner no longer exists. */
export function setOwnerReference(owner: Readable, object: KubernetesObject): void {
  const { controller: _, blockOwnerDeletion: __, ...reference } = referenceTo(owner, object);
  replaceReference(object, reference);
}

/** Removes the reference to `owner` from `object`, in place. Returns whether there was one. */
export function removeOwnerReference(owner: Readable, object: KubernetesObject): boolean {
  const { ownerReferences = [] } = object.metadata;
  const kept = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
  if (kept.length === ownerReferences.length) return false;
  object.metadata.ownerReferences = kept;
  return true;
}

function referenceTo(owner: Readable, object: Readable): OwnerReference {
  const { namespace, uid } = owner.metadata;
  if (!uid) throw new InvalidOptionError('owner.metadata.uid', 'must be set: only what is stored can own');
  if (namespace !== undefined && namespace !== object.metadata.namespace)
    throw new InvalidOptionError(
      'owner.metadata.namespace',
      `an owner in ${namespace} cannot own an object ${object.metadata.namespace ? `in ${object.metadata.namespace}` : 'without a namespace'}`,
    );
  return newControllerRef(owner);
}

function replaceReference(object: KubernetesObject, reference: OwnerReference): void {
  const { ownerReferences = [] } = object.metadata;
  const index = ownerReferences.findIndex(({ uid }) => uid === reference.uid);
  object.metadata.ownerReferences =
    index < 0 ? [...ownerReferences, reference] : ownerReferences.with(index, reference);
}
