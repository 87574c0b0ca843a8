import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ChangeWaits, CompiledChangeWaits } from '../shared/index.js';
import type { RolloutChecksOptions } from './policies/checks/rollout-checks.options.js';
import { changeWaits } from '../shared/index.js';
import type { DeploymentApi } from './kubernetes/deployment-api.js';
import { DEPLOYMENT_APIS } from './kubernetes/deployment-api.js';
import { OWN_RULES, type RolloutRules } from './kubernetes/rollout-rules.js';

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
   * Makes copies of ConfigMaps and Secrets, for Deployments with `config: pinned` (docs/ROLLOUTS.md), and watches both as
   * `restartOnConfig` does.
   * @default false
   */
  pinConfig?: boolean;
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
  /**
   * Watches HTTPRoutes, GRPCRoutes and Services, and writes weights and selectors, for Deployments with `traffic` (docs/ROLLOUTS.md).
   * @default false
   */
  traffic?: boolean;
  /**
   * Watches Services, and makes those of experiments whose steps ask for them (docs/ROLLOUTS.md).
   * @default false
   */
  experimentServices?: boolean;
  /** Measures the checks of rollouts (docs/ROLLOUTS.md). @default none are measured */
  checks?: RolloutChecksOptions;
  /** Watches the labels of nodes, for Deployments with `zones: one-by-one` (docs/ROLLOUTS.md). @default false */
  zones?: boolean;
  /**
   * Lets the pods of old versions drain, for Deployments with `keep-old` (docs/ROLLOUTS.md). It needs the controller that
   * {@link createDrainController} makes, and Rollkeeper's ReplicaSet controller.
   * @default false
   */
  drainSessions?: boolean;
  /**
   * Restarts Deployments with `restart-on: admission` (docs/ROLLOUTS.md). It needs the controller that
   * {@link createAdmissionDriftController} makes.
   * @default false
   */
  watchAdmission?: boolean;
  /**
   * Lets the pods of Deployments with `on-eviction: surge` name a responder to evictions by request (docs/ROLLOUTS.md): a preview.
   * It needs the controller that {@link createEvictionResponder} makes, and Rollkeeper's ReplicaSet controller.
   * @default false
   */
  evictionRequests?: boolean;
  /** Only to compare with recordings of Kubernetes. @default OWN_RULES */
  rules?: RolloutRules;
}

export interface CompiledDeploymentControllerOptions {
  readonly api: DeploymentApi;
  readonly neighbours: readonly DeploymentApi[];
  readonly workers: number;
  readonly waits: CompiledChangeWaits;
  readonly restartOnConfig: boolean;
  readonly pinConfig: boolean;
  readonly respectDisruptionBudgets: boolean;
  readonly maxRollouts: number | 'off';
  readonly blueGreen: boolean;
  readonly traffic: boolean;
  readonly experimentServices: boolean;
  readonly zones: boolean;
  readonly drainSessions: boolean;
  readonly watchAdmission: boolean;
  readonly evictionRequests: boolean;
  readonly checks?: RolloutChecksOptions;
  readonly rules: RolloutRules;
}

const schema = z.object({
  api: z.enum(DEPLOYMENT_APIS).default('apps/v1'),
  neighbours: z.array(z.enum(DEPLOYMENT_APIS)).default([]),
  workers: z.int().min(1).default(10),
  waits: changeWaits,
  restartOnConfig: z.boolean().default(false),
  pinConfig: z.boolean().default(false),
  respectDisruptionBudgets: z.boolean().default(false),
  maxRollouts: z.union([z.literal('off'), z.int().min(0)]).default('off'),
  blueGreen: z.boolean().default(false),
  traffic: z.boolean().default(false),
  experimentServices: z.boolean().default(false),
  zones: z.boolean().default(false),
  drainSessions: z.boolean().default(false),
  watchAdmission: z.boolean().default(false),
  evictionRequests: z.boolean().default(false),
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
  const compiled = compileOptions(schema, options, 'controllers.deployment');
  // Copies are made of objects that are watched.
  return { ...compiled, restartOnConfig: compiled.restartOnConfig || compiled.pinConfig };
}
