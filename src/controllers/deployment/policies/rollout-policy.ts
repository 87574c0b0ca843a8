import type { BlueGreen } from './blue-green/blue-green-settings.js';
import type { ConfigSelection } from './config-restart/config-selection.js';
import type { FailureCause } from './failure/failure-causes.js';
import type { PodCount } from './pod-counts.js';
import type { PodReplacement } from '../../shared/index.js';
import type { Step } from './steps/steps.js';
import type { RolloutWindow } from './start/windows.js';

/** The fate of a rollout that failed. */
export const ON_FAILURE = ['none', 'hold', 'rollback'] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** How a rollout looks after itself. */
export interface RolloutPolicy {
  readonly onFailure: OnFailure;
  /** How long a new pod may take to become available, milliseconds. @default the progress deadline alone decides */
  readonly failAfterMs?: number;
  /** How many new pods may take longer, or fail, at most. */
  readonly maxFailedPods: PodCount;
  readonly failureCauses: ReadonlySet<FailureCause>;
  /** How long a complete rollout must last before its revision counts as good, milliseconds. */
  readonly bakeMs: number;
  /** More restarts of containers in that time are a failure. @default any number */
  readonly maxRestarts?: number;
  readonly steps: readonly Step[];
  /** Names of the checks that are measured all the way through a rollout and its bake time. */
  readonly checks: readonly string[];
  /** The ConfigMap that defines the checks. */
  readonly checksFrom: string;
  /** When a rollout may begin. @default always */
  readonly windows: readonly RolloutWindow[];
  /** Why no rollout may begin. */
  readonly freeze?: string;
  /** Annotations that cannot be understood. If there are any, only a version that ran before begins or grows. @default none */
  readonly unclear?: string;
  /** Which ConfigMaps and Secrets it restarts on. @default none */
  readonly restartOn?: ConfigSelection;
  /** Takes no ready pod that a PodDisruptionBudget forbids to take. */
  readonly respectsBudgets: boolean;
  /** How many Deployments of the Namespace may roll out at once. @default any number */
  readonly maxRollouts?: number;
  /** Both versions run whole, and a Service moves between them. @default pods are replaced one after the other */
  readonly blueGreen?: BlueGreen;
  /** The label of nodes by whose values the old pods go one after the other. @default old pods go in any order */
  readonly zoneLabel?: string;
  /** Which pods go when it shrinks leaves the others spread. @default as in Kubernetes */
  readonly keepsSpread: boolean;
  /** When new pods take the place of old ones. @default when those begin to end */
  readonly podReplacement?: PodReplacement;
  /** Whether the requester of a revision, the reason, and how it ended are kept. */
  readonly history: boolean;
  /** Whether each change of size is noted on its ReplicaSet, for a history that lasts. */
  readonly notesSizes: boolean;
  /** Pods of which only cpu and memory change are resized, and not replaced. */
  readonly resizesInPlace: boolean;
  /** A rollout back to one of this many earlier revisions skips the steps. */
  readonly fastTrack: number;
  /** A pod whose eviction was requested goes when another one is available in its place. */
  readonly surgesOnEviction: boolean;
}

/** A problem of an annotation. */
export interface PolicyProblem {
  /** With where it is, if that is the Namespace. */
  readonly annotation: string;
  readonly value: string;
  readonly why: string;
}
