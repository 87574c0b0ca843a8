import type { Clock } from '../clock/index.js';
import { toRfc3339 } from '../clock/index.js';
import { transitionTime } from './object-state.js';

/** `metav1.Condition`: one entry of `status.conditions`. */
export interface Condition {
  /** UpperCamelCase, unique in its list: `Ready`. */
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** UpperCamelCase word for programs; required by the API. */
  reason: string;
  /** For people. */
  message: string;
  /** The `metadata.generation` that the condition is based on. */
  observedGeneration?: number;
  /** When `status` last changed, RFC 3339. */
  lastTransitionTime: string;
}

type ReadableCondition = Readonly<Condition>;

/**
 * A new list with `condition` in it. The transition time only changes with the status, so that a repeated sync writes
 * nothing.
 */
export function setCondition(
  conditions: readonly ReadableCondition[] | undefined,
  condition: Omit<Condition, 'lastTransitionTime'>,
  clock: Pick<Clock, 'now'>,
): Condition[] {
  const before = conditions ?? [];
  const old = findCondition(before, condition.type);
  const lastTransitionTime = transitionTime(old, condition.status, toRfc3339(clock.now()));
  const next: Condition = { ...condition, lastTransitionTime };
  if (!old) return [...before, next];
  return before.map((each) => (each.type === condition.type ? next : each));
}

/** The condition of a type; undefined if there is none. */
export function findCondition<C extends { readonly type?: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of a type is there and True. */
export function isConditionTrue(
  conditions: readonly { readonly type?: string; readonly status?: string }[] | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** The list without the condition of that type. */
export function removeCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
