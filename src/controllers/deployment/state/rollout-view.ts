import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { WaitPhase, WaitReason } from '../policies/common/waits.js';

/**
 * The input of `rolloutState`; nothing is read besides. Where ReplicaSets and pods may not be read, the lists are empty.
 */
export interface RolloutView {
  /** With the API's defaults. */
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods that those control. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** Defaults of its policies. @default not known */
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** In place of the bake time of its policies, milliseconds. */
  readonly bakeMs?: number;
  /** Whether this generation has been seen complete before: pods that are missing then were lost. @default false */
  readonly wasComplete?: boolean;
  readonly nowMs: number;
}

/**
 * The state of a rollout: the one vocabulary that commands, pages, metrics, Events and CloudEvents render.
 *
 * - `progressing`, `waiting-in-step`, `paused`: it moves, or it will
 * - `waiting-for-approval`, `held`: a person, a window, a freeze, a disruption budget or the queue of rollouts decides when it
 *   continues
 * - `waiting-for-check`: a check has not passed yet
 * - `baking`: it is complete, and it is watched until its bake time is over
 * - `rolling-back`: it failed, and the version before it is being restored
 * - `complete`, `failed`, `rolled-back`: it is over
 * - `deleting`: the Deployment is being deleted
 */
export type RolloutState = { /** For people. */ readonly message: string } & (
  | { readonly phase: 'progressing' | 'paused' | 'complete' | 'deleting' }
  | RolloutWait
  | {
      readonly phase: 'baking';
      readonly untilMs: number;
      /** Time alone may change the phase then. */ readonly lookAgainAfterMs: number;
    }
  | {
      readonly phase: 'failed' | 'rolling-back' | 'rolled-back';
      /** The cause, if the API names it. */ readonly failure?: string;
    }
);

interface RolloutWait {
  readonly phase: WaitPhase;
  /** Absent if no condition names the wait. */
  readonly reason?: WaitReason;
  /** Epoch milliseconds; absent if the API does not say. */
  readonly sinceMs?: number;
}

export type RolloutPhase = RolloutState['phase'];
