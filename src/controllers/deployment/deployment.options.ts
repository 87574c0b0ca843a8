import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ChangeWaits, CompiledChangeWaits } from '../shared/index.js';
import type { RolloutChecksOptions } from './policies/checks/rollout-checks.options.js';
import { changeWaits } from '../shared/index.js';
import type { DeploymentApi } from './deployment-api.js';
import { DEPLOYMENT_APIS } from './deployment-api.js';

/**
 * Deliberate differences from Kubernetes 1.36, one switch per reason (docs/CONTROLLERS.md has the arithmetic). All are
 * on in production; with all off a pass has the same result as the genuine controller's, to compare it with recordings.
 */
export interface RolloutRules {
  /**
   * Pods count as available only if that is certain, and scaling takes unavailable ones first, so that the floor holds.
   * Off: the status of a ReplicaSet counts even if it is outdated, and only sizes are distributed.
   */
  readonly floor: boolean;
  /**
   * A scaling event ends once it has been executed. Off: a single active ReplicaSet that already has the new size, and
   * several active ones of a Recreate, keep the old total in their annotation, so each sync detects a new scaling event
   * and the rollout is stuck (https://github.com/kubernetes/kubernetes/pull/138840).
   */
  readonly scalingEnds: boolean;
  /**
   * A surge never makes more room than a rollout can use, and sums are exact. Off: scaling in the middle of a rollout
   * fills any surge, sums wrap around as int32, and others' size annotations can make a ReplicaSet grow while all have
   * to shrink.
   */
  readonly surgeCap: boolean;
  /**
   * From the second name collision on, each is reported in an Event and in the condition. Off: they are only counted.
   */
  readonly collisionsTold: boolean;
  /** The last int64 is skipped as a revision. Off: no later ReplicaSet gets a revision. */
  readonly lastRevision: boolean;
}

/** Rollkeeper's behaviour. */
export const OWN_RULES: RolloutRules = {
  floor: true,
  scalingEnds: true,
  surgeCap: true,
  collisionsTold: true,
  lastRevision: true,
};

/** The behaviour of Kubernetes 1.36. */
export const KUBERNETES_RULES: RolloutRules = {
  floor: false,
  scalingEnds: false,
  surgeCap: false,
  collisionsTold: false,
  lastRevision: false,
};

export interface DeploymentControllerOptions {
  /** The API of the Deployments; each API has its own controller. @default 'apps/v1' */
  api?: DeploymentApi;
  /**
   * Other APIs whose Deployments are processed in the same process: overlaps between them are reported.
   * @default none
   */
  neighbours?: readonly DeploymentApi[];
  /** Concurrent Deployments per replica. @default 10 */
  workers?: number;
  /** Debounce times for changes of ReplicaSets. */
  waits?: ChangeWaits;
  /**
   * Watches ConfigMaps and Secrets, for Deployments that restart on their configuration (docs/ROLLOUTS.md): digests of them are cached.
   * @default false
   */
  restartOnConfig?: boolean;
  /**
   * Watches PodDisruptionBudgets, for Deployments whose rollouts respect them (docs/ROLLOUTS.md), and takes from them.
   * @default false
   */
  respectDisruptionBudgets?: boolean;
  /**
   * How many Deployments may roll out at once in the cluster, 0 for any number; either way the limits of Namespaces count
   * (docs/ROLLOUTS.md). It needs the controller that {@link createTurnsController} makes. @default off: no limits are kept
   */
  maxRollouts?: number | 'off';
  /**
   * Watches Services and moves their selectors, for Deployments with `strategy: blue-green` (docs/ROLLOUTS.md).
   * @default false
   */
  blueGreen?: boolean;
  /** Measures the checks of rollouts (docs/ROLLOUTS.md). @default none are measured */
  checks?: RolloutChecksOptions;
  /** Watches the labels of nodes, for Deployments with `zones: one-by-one` (docs/ROLLOUTS.md). @default false */
  zones?: boolean;
  /** Only to compare with recordings of Kubernetes. @default OWN_RULES */
  rules?: RolloutRules;
}

export interface CompiledDeploymentControllerOptions {
  readonly api: DeploymentApi;
  readonly neighbours: readonly DeploymentApi[];
  readonly workers: number;
  readonly waits: CompiledChangeWaits;
  readonly restartOnConfig: boolean;
  readonly respectDisruptionBudgets: boolean;
  readonly maxRollouts: number | 'off';
  readonly blueGreen: boolean;
  readonly zones: boolean;
  readonly checks?: RolloutChecksOptions;
  readonly rules: RolloutRules;
}

const schema = z.object({
  api: z.enum(DEPLOYMENT_APIS).default('apps/v1'),
  neighbours: z.array(z.enum(DEPLOYMENT_APIS)).default([]),
  workers: z.int().min(1).default(10),
  waits: changeWaits,
  restartOnConfig: z.boolean().default(false),
  respectDisruptionBudgets: z.boolean().default(false),
  maxRollouts: z.union([z.literal('off'), z.int().min(0)]).default('off'),
  blueGreen: z.boolean().default(false),
  zones: z.boolean().default(false),
  checks: z.custom<RolloutChecksOptions>((value) => typeof value === 'object').optional(),
  rules: z
    .object({
      floor: z.boolean(),
      scalingEnds: z.boolean(),
      surgeCap: z.boolean(),
      collisionsTold: z.boolean(),
      lastRevision: z.boolean(),
    })
    .default(OWN_RULES),
});

/** @throws InvalidOptionError naming the option */
export function compileDeploymentControllerOptions(
  options: DeploymentControllerOptions = {},
): CompiledDeploymentControllerOptions {
  return compileOptions(schema, options, 'controllers.deployment');
}
