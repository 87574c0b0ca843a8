import type {
  DeepReadonly,
  DeploymentSpec,
  Deployment,
  LabelMatcher,
} from '@rollkeeper/machinery/kubernetes';
import { scaledValue } from '../../shared/index.js';
import { clampToInt32 } from './int32.js';
import { compileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import { errorMessage } from '@rollkeeper/machinery/errors';

type Spec = DeepReadonly<DeploymentSpec>;

/** How far a rolling update may go above and below `spec.replicas`. */
interface Fenceposts {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** `spec.replicas` with the API's default. */
export function replicasOf(spec: Spec): number {
  return spec.replicas ?? 1;
}

export function isRollingUpdate(spec: Spec): boolean {
  return (spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
}

/**
 * Both limits as numbers of pods: percentages of `spec.replicas`, the surge rounded up and the unavailable rounded
 * down. If both are 0, one pod may be unavailable, or the rollout could never move.
 *
 * 10 replicas, 25 %/25 %: surge 3 (2.5 up), unavailable 2 (2.5 down), so between 8 available and 13 in all.
 * @throws InvalidOptionError for a value that is neither a number nor a percentage
 */
export function resolveFenceposts(spec: Spec): Fenceposts {
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const surge = resolveLimit('maxSurge', maxSurge, replicasOf(spec), Math.ceil);
  const unavailable = resolveLimit('maxUnavailable', maxUnavailable, replicasOf(spec), Math.floor);
  return surge === 0 && unavailable === 0
    ? { maxSurge: 0, maxUnavailable: 1 }
    : { maxSurge: surge, maxUnavailable: unavailable };
}

/** Pods allowed beyond `spec.replicas`; 0 unless the strategy is a rolling update. */
export function maxSurge(spec: Spec): number {
  return isRollingUpdate(spec) ? resolveFenceposts(spec).maxSurge : 0;
}

/** Pods of `spec.replicas` that may be missing; 0 unless the strategy is a rolling update. */
export function maxUnavailable(spec: Spec): number {
  const replicas = replicasOf(spec);
  if (!isRollingUpdate(spec) || replicas === 0) return 0;
  return Math.min(resolveFenceposts(spec).maxUnavailable, replicas);
}

/** Maximum of all ReplicaSets' sizes together. */
export function maxTotalReplicas(spec: Spec): number {
  return replicasOf(spec) + maxSurge(spec);
}

/** The minimum of available pods. */
export function minAvailable(spec: Spec): number {
  return replicasOf(spec) - maxUnavailable(spec);
}

function resolveLimit(
  name: string,
  value: string | number,
  total: number,
  round: (pods: number) => number,
): number {
  if (typeof value === 'number') return value;
  return clampToInt32(scaledValue(value, total, round, `spec.strategy.rollingUpdate.${name}`));
}

type Validation =
  | { readonly valid: true; readonly selects: LabelMatcher }
  | { readonly valid: false; readonly problem: string };

/**
 * Whether a Deployment can be processed. The API server refuses invalid ones, but objects may be older than its rules,
 * or come from a server with other rules.
 */
export function validateDeployment(deployment: DeepReadonly<Deployment>): Validation {
  const { spec } = deployment;
  const strategy: string = spec.strategy?.type ?? 'RollingUpdate';
  if (strategy !== 'RollingUpdate' && strategy !== 'Recreate') {
    return { valid: false, problem: `unexpected deployment strategy type: ${strategy}` };
  }
  if ((spec.replicas ?? 1) < 0) {
    return { valid: false, problem: `spec.replicas: ${spec.replicas} is less than 0` };
  }
  try {
    if (strategy === 'RollingUpdate') resolveFenceposts(spec);
    return { valid: true, selects: compileLabelSelector(spec.selector) };
  } catch (error) {
    return { valid: false, problem: errorMessage(error) };
  }
}
