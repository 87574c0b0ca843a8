import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { NodeLabels } from '@rollkeeper/controllers/shared';
import type { QueuedRollout } from '@rollkeeper/controllers/deployment';
import type { LoggedDecision } from './decision-log.js';

/** The knowledge of a work queue about a key. */
export interface QueueKnowledge {
  readonly parked?: {
    readonly error: string;
    readonly retries: number;
    readonly parkedAtMs: number;
    readonly nextTryMs?: number;
  };
  /** Failed before, and will be retried. */
  readonly retry?: { readonly failures: number; readonly dueMs?: number; readonly error?: string };
  /** When it runs again, failed or not, epoch milliseconds. */
  readonly comesBackMs?: number;
  /** Due, but not taken by a worker yet. */
  readonly waiting?: boolean;
  readonly runningOn?: string;
  /** A sync that exceeded its time limit and was cancelled; times in epoch milliseconds. */
  readonly overdue?: { readonly replica: string; readonly sinceMs: number; readonly overdueSinceMs: number };
}

/** The controllers that run. */
export interface ControlKnowledge {
  /** Whether any replica processes Deployments. */
  readonly controllerRuns: boolean;
  /** Identity of the leader; absent: there is none. */
  readonly leader?: string;
  /** The shared store, as seen by the answering replica. @default it answers */
  readonly store?: { readonly name: string; readonly answers: boolean; readonly silentSinceMs?: number };
  /** Why the API server does not answer the replica: all else is what the caches knew before. @default it answers */
  readonly apiProblem?: string;
}

/** The complete input of an explanation; nothing else is read. */
export interface ExplainInput {
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods that those control. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** The pods that it controls itself: those of old versions that drain. @default none */
  readonly draining?: readonly DeepReadonly<Pod>[];
  /** Whether its namespace is being deleted. @default unknown */
  readonly namespaceTerminating?: boolean;
  /** Nodes that are not ready, by name, and since when (RFC 3339) if known. @default unknown */
  readonly nodesNotReady?: ReadonlyMap<string, string | undefined>;
  /** The annotations of its Namespace, which are defaults for its rollout. @default not known */
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** The labels of nodes, by which a rollout may go zone by zone. @default unknown: it is explained as if it did not */
  readonly nodeLabels?: NodeLabels;
  /** The queue of rollouts, for one that waits for its turn. @default not known */
  readonly queuedRollouts?: readonly QueuedRollout[];
  /** The other Deployments of the namespace. */
  readonly neighbours?: readonly DeepReadonly<Deployment>[];
  /** Absent if unknown: derived from the API alone. */
  readonly queue?: QueueKnowledge;
  /** The same for its ReplicaSets that do not have all their pods, by name. */
  readonly replicaSetQueues?: ReadonlyMap<string, QueueKnowledge>;
  readonly control?: ControlKnowledge;
  /** Whether a change of an unknown time is an old one: for one who looks twice before it is reported. @default false */
  readonly areChangesOld?: boolean;
  /** Newest first. */
  readonly decisions?: readonly LoggedDecision[];
  /**
   * The limits within which another controller creates and deletes the pods, and decides their number by itself: that of a set.
   * @default it is a Deployment, whose sizes are explained
   */
  readonly sizedElsewhere?: { readonly mostUnavailable: number };
  readonly nowMs: number;
}
