import { z } from 'zod';
import { compileOptions } from '../../base/options/compile-options.js';

/** How the ReplicaSet controller works; every option has a default. */
export interface ReplicaSetControllerOptions {
  /** Most pods that one sync creates or deletes. @default 500, as in Kubernetes */
  burstReplicas?: number;
  /**
   * How long nothing must happen to the pods before a sync, milliseconds, so that a burst of changes makes one sync.
   * @default 100
   */
  podChangeDelayMs?: number;
  /** The same when the pods have come to where they should be, and nothing more is to be expected. @default 5 */
  settledDelayMs?: number;
  /**
   * The same for pods that appeared: only a count in the status follows from them, which is as well written when they
   * become ready, if that is soon. @default 300
   */
  newPodDelayMs?: number;
  /** The same for pods that had stopped counting before; `terminatingReplicas` follows from them. @default 1000 */
  endedPodDelayMs?: number;
  /**
   * When a sync that created or deleted pods without a failure writes the status: `now`, as Kubernetes does, or
   * `with-next-sync`, the one that sees these pods, which saves one write for each step of a rollout.
   * @default 'with-next-sync'
   */
  statusAfterScaling?: 'now' | 'with-next-sync';
  /** First wait after nodes have rejected pods of a ReplicaSet, milliseconds; doubles each time. @default 1000 */
  rejectionBackoffBaseMs?: number;
  /** Longest such wait, milliseconds. @default 300000 */
  rejectionBackoffMaxMs?: number;
}

export type CompiledReplicaSetControllerOptions = Readonly<Required<ReplicaSetControllerOptions>>;

const schema = z
  .strictObject({
    burstReplicas: z.int().positive().default(500),
    podChangeDelayMs: z.number().nonnegative().default(100),
    settledDelayMs: z.number().nonnegative().default(5),
    newPodDelayMs: z.number().nonnegative().default(300),
    endedPodDelayMs: z.number().nonnegative().default(1000),
    statusAfterScaling: z.enum(['now', 'with-next-sync']).default('with-next-sync'),
    rejectionBackoffBaseMs: z.number().positive().default(1000),
    rejectionBackoffMaxMs: z.number().positive().default(300_000),
  })
  .refine((options) => options.rejectionBackoffMaxMs >= options.rejectionBackoffBaseMs, {
    path: ['rejectionBackoffMaxMs'],
    message: 'must not be below rejectionBackoffBaseMs',
  });

/** @throws InvalidOptionError naming the option */
export function compileReplicaSetControllerOptions(
  options: ReplicaSetControllerOptions = {},
): CompiledReplicaSetControllerOptions {
  return compileOptions(schema, options, 'replicaSetController');
}
