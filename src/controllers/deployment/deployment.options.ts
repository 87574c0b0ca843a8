import { z } from 'zod';
import { compileOptions } from '../../base/options/compile-options.js';
import type { ChangeWaits, CompiledChangeWaits } from '../shared/index.js';
import { changeWaits } from '../shared/index.js';
import type { DeploymentApi } from './deployment-api.js';
import { DEPLOYMENT_APIS } from './deployment-api.js';

/** Where we do better than Kubernetes 1.20, and how to have it not so. */
export interface RolloutRules {
  /**
   * Set: the arithmetic of Kubernetes 1.20 to the letter, to compare with its recordings. Unset, for real work,
   * four faults are left out:
   *
   * 1. While a ReplicaSet is still shrinking, its status reports more available pods than it will keep. 1.20 counts
   *    those on their way out, and can scale the others below the floor.
   * 2. A ReplicaSet whose size annotation is lost, while the Deployment's status is still empty, is scaled by a
   *    division by zero, to sizes like -2147483646, which the API refuses. Newer versions let it keep its size.
   * 3. The only active ReplicaSet has the new size already, or a Recreate has several active ones: nothing is scaled,
   *    nor the new size noted, so each sync takes the change for a new one and the rollout is stuck. Newer versions do
   *    the same (https://github.com/kubernetes/kubernetes/pull/138840).
   * 4. The history loses the ReplicaSet that was created first, although a rollback may have made it the last that
   *    worked. Newer versions go by revision (https://github.com/kubernetes/kubernetes/issues/82570).
   */
  readonly asKubernetes120: boolean;
}

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
  /** See RolloutRules: only to compare with recordings of Kubernetes 1.20. @default false */
  asKubernetes120?: boolean;
}

export interface CompiledDeploymentControllerOptions {
  readonly api: DeploymentApi;
  readonly neighbours: readonly DeploymentApi[];
  readonly workers: number;
  readonly waits: CompiledChangeWaits;
  readonly asKubernetes120: boolean;
}

const schema = z.object({
  api: z.enum(DEPLOYMENT_APIS).default('apps/v1'),
  neighbours: z.array(z.enum(DEPLOYMENT_APIS)).default([]),
  workers: z.int().min(1).default(10),
  waits: changeWaits,
  asKubernetes120: z.boolean().default(false),
});

/** @throws InvalidOptionError naming the option */
export function compileDeploymentControllerOptions(
  options: DeploymentControllerOptions = {},
): CompiledDeploymentControllerOptions {
  return compileOptions(schema, options, 'controllers.deployment');
}
