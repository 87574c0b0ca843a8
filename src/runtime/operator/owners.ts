import { InvalidOptionError, TerminalError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, OwnerReference } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, newControllerRef } from '@rollkeeper/machinery/kubernetes';

type Readable = DeepReadonly<KubernetesObject>;

/**
 * Makes `owner` the one controller of `object`, in place: with it goes the object, and changes of the object wake the owner
 * where its controller `owns` the kind. Does nothing where that is so already.
 * @throws TerminalError where another controller has the object
 * @throws InvalidOptionError where the API would not follow the reference: an owner without a UID, or from another namespace
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

/** Names `owner` as one of the owners of `object`, in place: the object goes when its last owner has gone. */
export function setOwnerReference(owner: Readable, object: KubernetesObject): void {
  const { controller: _, blockOwnerDeletion: __, ...reference } = referenceTo(owner, object);
  replaceReference(object, reference);
}

/** Takes the reference to `owner` off `object`, in place. Returns whether there was one. */
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
