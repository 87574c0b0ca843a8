import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { LoggedDecision } from './decision-log.js';

/** What a work queue knows of a key. */
export interface QueueKnowledge {
  readonly parked?: {
    readonly error: string;
    readonly retries: number;
    readonly parkedAtMs: number;
    readonly nextTryMs?: number;
  };
  /** Failed before, and will be tried again. */
  readonly retry?: { readonly failures: number; readonly dueMs?: number; readonly error?: string };
  /** When it is looked at again, failed or not, epoch milliseconds. */
  readonly comesBackMs?: number;
  /** Due, and nobody has taken it yet. */
  readonly waiting?: boolean;
  readonly runningOn?: string;
  /** A sync that has taken too long and was told to end; times in epoch milliseconds. */
  readonly overdue?: { readonly replica: string; readonly sinceMs: number; readonly overdueSinceMs: number };
}

/** Who works at all. */
export interface ControlKnowledge {
  /** Whether any replica works on Deployments. */
  readonly controllerRuns: boolean;
  /** Identity of the leader; absent: nobody leads. */
  readonly leader?: string;
  /** What the replicas share, as the one that answers finds it. @default it answers */
  readonly store?: { readonly name: string; readonly answers: boolean; readonly silentSinceMs?: number };
}

/** Everything that an explanation is made of; nothing is read besides. */
export interface ExplainInput {
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods that those control. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** Whether its namespace is being deleted. @default not known */
  readonly namespaceTerminating?: boolean;
  /** Nodes that are not ready, by name, and since when (RFC 3339) as far as it is known. @default not known */
  readonly nodesNotReady?: ReadonlyMap<string, string | undefined>;
  /** The annotations of its Namespace, which are defaults for its rollout. @default not known */
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** The other Deployments of the namespace. */
  readonly neighbours?: readonly DeepReadonly<Deployment>[];
  /** Absent where nothing is known of it: computed from the API alone. */
  readonly queue?: QueueKnowledge;
  /** The same for its ReplicaSets, by name, of those that do not have all their pods. */
  readonly replicaSetQueues?: ReadonlyMap<string, QueueKnowledge>;
  readonly control?: ControlKnowledge;
  /** Newest first. */
  readonly decisions?: readonly LoggedDecision[];
  readonly nowMs: number;
}
