import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ChangeWaits, CompiledChangeWaits } from '../shared/index.js';
import { changeWaits } from '../shared/index.js';
import type { DeploymentApi } from './deployment-api.js';
import { DEPLOYMENT_APIS } from './deployment-api.js';

/**
 * Where Kubernetes 1.36 is not followed, one switch for each reason (docs/CONTROLLERS.md tells them with the sums). All are on
 * for real work; with all off a pass comes to what the genuine controller's does, to compare with recordings of it.
 */
export interface RolloutRules {
  /**
   * Pods count as available only where that is certain, and a change of size takes those that are not first, so that the
   * floor holds. Off: the status of a ReplicaSet counts whatever size it answers to, and sizes alone are shared out.
   */
  readonly floor: boolean;
  /**
   * A change of size is over once it has been carried out. Off: the only active ReplicaSet that has the new size already, and
   * several active ones of a Recreate, keep the old total noted, so each sync takes the change for a new one and the rollout
   * is stuck (https://github.com/kubernetes/kubernetes/pull/138840).
   */
  readonly scalingEnds: boolean;
  /**
   * A surge never makes more room than a rollout can use, and sums are exact. Off: a change of size in the middle of a rollout
   * fills whatever surge there is, sums wrap around as int32 do, and size annotations of others can make a ReplicaSet grow
   * while all have to shrink.
   */
  readonly surgeCap: boolean;
  /** From the second collision of names on, each is told in an Event and in the condition. Off: they are counted alone. */
  readonly collisionsTold: boolean;
  /** The revision after the last int64 is passed over. Off: no later ReplicaSet gets a revision. */
  readonly lastRevision: boolean;
}

/** As Rollkeeper works. */
export const OWN_RULES: RolloutRules = {
  floor: true,
  scalingEnds: true,
  surgeCap: true,
  collisionsTold: true,
  lastRevision: true,
};

/** As Kubernetes 1.36 works. */
export const KUBERNETES_RULES: RolloutRules = {
  floor: false,
  scalingEnds: false,
  surgeCap: false,
  collisionsTold: false,
  lastRevision: false,
};

export interface DeploymentControllerOptions {
  /** Whose Deployments; each API has a controller of its own. @default 'apps/v1' */
  api?: DeploymentApi;
  /**
   * Other APIs whose Deployments are worked on in the same process: those that take the same pods are told of each other.
   * @default none
   */
  neighbours?: readonly DeploymentApi[];
  /** Deployments that one replica works on at the same time. @default 10 */
  workers?: number;
  /** How long changes of ReplicaSets wait for more of them. */
  waits?: ChangeWaits;
  /** Only to compare with recordings of Kubernetes. @default OWN_RULES */
  rules?: RolloutRules;
}

export interface CompiledDeploymentControllerOptions {
  readonly api: DeploymentApi;
  readonly neighbours: readonly DeploymentApi[];
  readonly workers: number;
  readonly waits: CompiledChangeWaits;
  readonly rules: RolloutRules;
}

const schema = z.object({
  api: z.enum(DEPLOYMENT_APIS).default('apps/v1'),
  neighbours: z.array(z.enum(DEPLOYMENT_APIS)).default([]),
  workers: z.int().min(1).default(10),
  waits: changeWaits,
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
