import { z } from 'zod';
import { compileOptions } from '../../base/options/compile-options.js';

export interface DeploymentControllerOptions {
  /** Deployments that one replica works on at the same time. @default 10 */
  workers?: number;
  /**
   * How long nothing must happen to the ReplicaSets before a sync, milliseconds, so that the steps of a wave make one
   * sync. @default 100
   */
  coalesceMs?: number;
  /** The same for a ReplicaSet that has come to the size it was given, all pods available. @default 10 */
  settledMs?: number;
  /**
   * The same for one that has come to its size while another one still grows and waits for its pods, and for one that is
   * new or was given another size: nothing can be done that could not be done before. @default 300
   */
  waveMs?: number;
  /**
   * How long a change that looks like our own status write waits, milliseconds. It needs no sync unless somebody
   * else made it. @default 1000
   */
  statusEchoMs?: number;
  /** See RolloutRules: only to compare with recordings of Kubernetes 1.20. @default false */
  asKubernetes120?: boolean;
}

export interface CompiledDeploymentControllerOptions {
  readonly workers: number;
  readonly coalesceMs: number;
  readonly settledMs: number;
  readonly waveMs: number;
  readonly statusEchoMs: number;
  readonly asKubernetes120: boolean;
}

const schema = z.object({
  workers: z.int().min(1).default(10),
  coalesceMs: z.number().min(0).default(100),
  settledMs: z.number().min(0).default(10),
  waveMs: z.number().min(0).default(300),
  statusEchoMs: z.number().min(0).default(1000),
  asKubernetes120: z.boolean().default(false),
});

/** @throws InvalidOptionError naming the option */
export function compileDeploymentControllerOptions(
  options: DeploymentControllerOptions = {},
): CompiledDeploymentControllerOptions {
  return compileOptions(schema, options, 'controllers.deployment');
}
