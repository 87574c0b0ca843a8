import type { Lister } from '@rollkeeper/client/informer';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { controllerOf, keyOf, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { LabelSelecting } from './selector-index.js';
import { SELECTOR_INDEX, selectorIndexValuesFor } from './selector-index.js';

type Readable = DeepReadonly<KubernetesObject>;
type OwnerType = Pick<ResourceType, 'group' | 'kind' | 'namespaced'>;

/**
 * The owner that a child names, if it is an object of `type`: the object itself may not be cached, or be another one by
 * now.
 */
export function ownerRefOf(child: Readable, { group, kind, namespaced }: OwnerType): OwnerRef | undefined {
  const { apiVersion = '', kind: ownersKind, name, uid } = controllerOf(child) ?? {};
  if (name === undefined || uid === undefined) return undefined;
  if (ownersKind !== kind || groupOf(apiVersion) !== group) return undefined;
  return { uid, ref: namespaced ? { namespace: child.metadata.namespace, name } : { name } };
}

interface OwnerRef {
  readonly ref: ObjectRef;
  readonly uid: string;
}

/** The cached object that controls `child`. */
export function findOwner<T extends KubernetesObject>(
  child: Readable,
  type: OwnerType,
  lister: Lister<T>,
): DeepReadonly<T> | undefined {
  const owner = ownerRefOf(child, type);
  const cached = owner && lister.get(keyOf(owner.ref));
  return cached?.metadata.uid === owner?.uid ? cached : undefined;
}

/**
 * The cached objects whose selector selects `orphan`, which might adopt it.
 * @param lister with {@link SELECTOR_INDEX}
 */
export function findAdopters<T extends KubernetesObject>(
  orphan: Readable,
  lister: Lister<T>,
): DeepReadonly<T>[] {
  return selectorIndexValuesFor(orphan)
    .flatMap((value) => lister.byIndex(SELECTOR_INDEX, value))
    .filter((candidate) => {
      const { spec } = candidate as unknown as DeepReadonly<LabelSelecting>;
      return tryCompileLabelSelector(spec.selector)?.(orphan.metadata.labels) ?? false;
    });
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}
