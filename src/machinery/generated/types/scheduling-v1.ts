// Made by scripts/generate-types.mjs.
import type { ListMeta, ObjectMeta } from './meta-v1.js';

/**
 * PriorityClass defines mapping from a priority class name to the priority integer value. The value can be any valid integer.
 */
export interface PriorityClass {
  apiVersion: "scheduling.k8s.io/v1";
  /**
   * description is an arbitrary string that usually provides guidelines on when this priority class should be used.
   */
  description?: string;
  /**
   * globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.
   */
  globalDefault?: boolean;
  kind: "PriorityClass";
  /**
   * Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata?: ObjectMeta;
  /**
   * preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.
   *
   * Possible enum values:
   *  - `"Never"` means that pod never preempts other pods with lower priority.
   *  - `"PreemptLowerPriority"` means that pod can preempt other pods with lower priority.
   */
  preemptionPolicy?: "Never" | "PreemptLowerPriority";
  /**
   * value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.
   */
  value?: number;
}

/**
 * PriorityClassList is a collection of priority classes.
 */
export interface PriorityClassList {
  apiVersion: "scheduling.k8s.io/v1";
  /**
   * items is the list of PriorityClasses
   */
  items: Array<PriorityClass>;
  kind: "PriorityClassList";
  /**
   * Standard list metadata More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata?: ListMeta;
}
