import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ChangeWaits, CompiledChangeWaits } from '../shared/index.js';
import { changeWaits } from '../shared/index.js';

/** Options of the ReplicaSet controller; all have defaults. */
export interface ReplicaSetControllerOptions {
  /** Limit of pods created or deleted in one sync. @default 500, as in Kubernetes */
  burstReplicas?: number;
  /** Debounce times for changes of pods. */
  waits?: ChangeWaits;
  /**
   * When a sync that created or deleted pods without a failure writes the status: `now`, as Kubernetes does, or
   * `with-next-sync`, by the sync that sees these pods, which saves one write per step of a rollout.
   * @default 'with-next-sync'
   */
  statusAfterScaling?: 'now' | 'with-next-sync';
  /** Watches the labels of nodes, so that rollouts can go zone by zone (docs/ROLLOUTS.md). @default false */
  zones?: boolean;
  /**
   * Creates pods more and more slowly while those of a ReplicaSet die before they are ready (docs/CONTROLLERS.md). Only to
   * compare with recordings of Kubernetes. @default true
   */
  failureBackoff?: boolean;
  /** First delay after pods of a ReplicaSet died before they were ready, milliseconds; doubles each time. @default 1000 */
  rejectionBackoffBaseMs?: number;
  /** Longest such delay, milliseconds. @default 300000 */
  rejectionBackoffMaxMs?: number;
}

export interface CompiledReplicaSetControllerOptions extends Readonly<Required<ReplicaSetControllerOptions>> {
  readonly waits: CompiledChangeWaits;
}

const schema = z
  .strictObject({
    burstReplicas: z.int().positive().default(500),
    waits: changeWaits,
    zones: z.boolean().default(false),
    statusAfterScaling: z.enum(['now', 'with-next-sync']).default('with-next-sync'),
    failureBackoff: z.boolean().default(true),
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
