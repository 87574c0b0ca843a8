import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isInReach } from '@rollkeeper/machinery/kubernetes';
import type { Lister } from './informer.js';
import { OWNER_UID_INDEX } from './informer.js';

/**
 * The cached objects with a reference to an owner, by its UID. Those of another namespace than the owner's are left out: an
 * author there may claim any owner.
 */
export function ownedBy<T extends KubernetesObject>(
  lister: Lister<T>,
  owner: DeepReadonly<Pick<KubernetesObject, 'metadata'>>,
): readonly DeepReadonly<T>[] {
  const claimed = lister.byIndex(OWNER_UID_INDEX, owner.metadata.uid ?? '');
  return claimed.filter((object) => isInReach(object, owner));
}

/** The cached objects that an owner controls: a Deployment owns the ReplicaSets of its experiments as well, for example. */
export function controlledBy<T extends KubernetesObject>(
  lister: Lister<T>,
  owner: DeepReadonly<Pick<KubernetesObject, 'metadata'>>,
): readonly DeepReadonly<T>[] {
  return ownedBy(lister, owner).filter((object) => controllerOf(object)?.uid === owner.metadata.uid);
}
