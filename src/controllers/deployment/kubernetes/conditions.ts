import { findCondition, transitionTime } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, DeploymentCondition, DeploymentStatus } from '@rollkeeper/machinery/kubernetes';

export type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';
type Conditions = DeepReadonly<DeploymentStatus>['conditions'];

/** A condition of one of the types that the controller writes. */
type OwnCondition = DeploymentCondition & { readonly type: ConditionType };

/** A condition that begins now. */
export function newCondition(
  type: ConditionType,
  fields: { status: 'True' | 'False' | 'Unknown'; reason: string; message: string },
  now: string,
): OwnCondition {
  return { type, ...fields, lastUpdateTime: now, lastTransitionTime: now };
}

/**
 * Replaces the condition of the same type, at the end of the list. An equal condition (status and reason) stays
 * untouched, including message and times; an unchanged status keeps its transition time.
 */
export function withCondition(conditions: Conditions, wanted: OwnCondition): DeploymentCondition[] {
  const current = findCondition(conditions, wanted.type);
  if (current?.status === wanted.status && current.reason === wanted.reason) return [...(conditions ?? [])];
  const lastTransitionTime = transitionTime(current, wanted.status, wanted.lastTransitionTime);
  return [...withoutCondition(conditions, wanted.type), { ...wanted, lastTransitionTime }];
}

export function withoutCondition(conditions: Conditions, type: ConditionType): DeploymentCondition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
