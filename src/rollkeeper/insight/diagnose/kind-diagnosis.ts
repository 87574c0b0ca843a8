import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { Verdict } from './diagnosis.js';
import type { Need, Snapshot } from './snapshot.js';

/** How objects of one kind are diagnosed: which lists it takes, and the verdict that follows of them. */
export interface KindDiagnosis<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType;
  /** As kubectl takes them, besides kind and plural: `hpa`. */
  readonly aliases: readonly string[];
  /** Lists besides that of the kind itself. @param namespace absent: those for every object of the cluster */
  needs(namespace: string | undefined): readonly Need[];
  /** The namespace whose lists an object takes. @default that which it is in */
  scopeOf?(object: DeepReadonly<T>): string;
  /** Lists that only some objects take. @default none */
  alsoNeeds?(object: DeepReadonly<T>): readonly Need[];
  /** Pure. */
  judge(object: DeepReadonly<T>, snapshot: Snapshot, nowMs: number): Verdict;
}

/** Lists of the object's namespace. */
export function inNamespace(types: readonly ResourceType[], namespace: string | undefined): readonly Need[] {
  return types.map((type) => ({ type, ...(namespace !== undefined && { namespace }) }));
}
