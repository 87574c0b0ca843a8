import type { DeploymentApi } from '@rollkeeper/controllers/deployment';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { AccessJudge, AskingOne } from '../delegated-access/index.js';
import type { OtherClusters } from '../clusters/index.js';
import type { Diagnosis } from '../../insight/diagnose/index.js';
import type { DecisionLog, RunningSyncs } from '../../insight/explain/index.js';
import type { Informer } from '@rollkeeper/client/informer';
import type { Deployment, Namespace, Node, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ShownSpan } from '@rollkeeper/opentelemetry';
import type { ServedCertificate } from '@rollkeeper/tls';
import type { PlaceNode } from '@rollkeeper/controllers/set-rollouts';
import type { ControllerRevision } from '@rollkeeper/controllers/shared';
import type { DaemonSet, SlotOwners, StatefulSet } from '@rollkeeper/runtime';
import type { WorkQueueInspector, WorkQueueTending } from '@rollkeeper/runtime/work-queue';
import type { OidcSignIn } from '../oidc/index.js';
import type { Samples } from '../../insight/objectives/index.js';
import type { LocalReads } from './decide-access.js';
import type { StatusSource } from './status-source.js';

/** A replica as seen by the others. */
export interface Peer {
  readonly identity: string;
  readonly adminUrl: string;
  readonly pid: number;
  readonly startedAtMs: number;
  /** SHA-256 fingerprints of its admin port's certificates. Absent: plain HTTP. */
  readonly certificates?: readonly string[];
  /** Proves that the announcing replica has the admin token; see {@link proofOf}. Absent: it has none. */
  readonly proof?: string;
  /** How long it has not announced itself, milliseconds, although it did not say that it stops. Absent: it does. */
  readonly silentMs?: number;
}

export interface PeerRegistry {
  /** All replicas that announced themselves and did not stop, including this one; those that fell silent for some minutes more. */
  peers(): Promise<readonly Peer[]>;
}

/** Remembers what may be used once, such as a ticket. */
export interface SingleUses {
  /**
   * Whether this is the first use; from now on it is not.
   * @param digest of what is used
   * @param rememberedMs as long as it could be used at all, milliseconds
   * @throws what the shared store answers, if it is in one
   */
  isFirst(digest: string, rememberedMs: number): Promise<boolean>;
}

/** The shared store. */
export interface WatchedStore {
  readonly name: string;
  /** Rejects, or does not settle, while it does not answer. */
  ping(): Promise<void>;
}

/** The lease as just read. */
export interface LeaseView {
  readonly holder: string;
  readonly epoch: number;
  readonly durationMs: number;
  readonly renewedAtMs: number;
  readonly remainingMs: number;
}

/** This replica's caches for explaining the Deployments of one API. */
export interface DeploymentCaches {
  /** `apps/v1`, or `rollkeeper.dev/v1`. */
  readonly apiVersion: DeploymentApi;
  /** The controller that reconciles them. */
  readonly controller: string;
  readonly deployments: Informer<Deployment>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  /** Absent if no controller here watches namespaces. */
  readonly namespaces?: Informer<Namespace>;
  /** The part of each Namespace that may be a default for its rollouts. @default what `namespaces` has */
  readonly namespacePolicies?: Informer;
  /** Absent where no controller here watches nodes. */
  readonly nodes?: Informer<Node>;
}

/** This replica's caches for the rollouts of the sets of one kind. */
export interface SetCaches {
  readonly kind: 'StatefulSet' | 'DaemonSet';
  /** The controller that leads their rollouts. */
  readonly controller: string;
  readonly sets: Informer<StatefulSet | DaemonSet>;
  readonly revisions: Informer<ControllerRevision>;
  readonly pods: Informer<Pod>;
  /** The part of each Namespace that may be a default for its rollouts. Absent if no controller here watches namespaces. */
  readonly namespaces?: Informer;
  /** The nodes that the pods of DaemonSets are for. Absent for StatefulSets. */
  readonly nodes?: Informer<PlaceNode>;
}

/** Everything that the admin API shows and does on this replica. A class, so that it is its own injection token. */
export abstract class AdminPorts {
  abstract readonly identity: string;
  abstract readonly startedAtMs: number;
  abstract readonly clock: Clock;
  abstract readonly logger: Logger;
  /** Its holder may make changes, and read from anywhere. Absent: no changes are possible. */
  abstract readonly token?: string;
  /** Verifies other tokens. Absent: they are rejected. */
  abstract readonly delegated?: AccessJudge;
  /** Whether metrics need no authorization. @default false */
  abstract readonly openMetrics?: boolean;
  /** The users of this machine who may read without a token. @default 'anyone' */
  abstract readonly localReads?: LocalReads;
  /** The certificate of the port. Absent: plain HTTP. */
  abstract readonly certificate?: ServedCertificate;
  abstract readonly status: StatusSource;
  /** The shared store. */
  abstract readonly store: WatchedStore;
  /** The options in force, without secrets. */
  abstract readonly config: () => Readonly<Record<string, unknown>>;
  abstract readonly logLevel: { get(): string; set(level: string): void };
  /** By controller. */
  abstract readonly queues: () => ReadonlyMap<string, WorkQueueInspector & WorkQueueTending>;
  /** Whether a controller's caches have an object for a key. Undefined: unknown, or not yet. */
  abstract readonly hasObject: (controller: string, key: string) => boolean | undefined;
  /** One per API whose Deployments a controller here watches. */
  abstract readonly caches: () => readonly DeploymentCaches[];
  /** One per kind of sets whose rollouts a controller here leads. Absent: none. */
  abstract readonly sets?: () => readonly SetCaches[];
  abstract readonly decisions: DecisionLog;
  abstract readonly running: RunningSyncs;
  /** How soon rollouts were answered and done. Absent: nothing here measures it. */
  abstract readonly objectives?: { samples(): Samples };
  abstract readonly traces: { of(traceId: string): readonly ShownSpan[] };
  /** Writes what people ask for. Absent: nothing can be asked for here. */
  abstract readonly client?: ApiClient;
  /** The same API for another user, with the rights of that one. Absent: tokens of the cluster are not accepted. */
  abstract readonly clientAs?: (who: AskingOne) => ApiClient;
  /** Signs people in by an identity provider. Absent: there is none. */
  abstract readonly oidc?: OidcSignIn;
  /** The address at which people reach the console. Absent: unknown. */
  abstract readonly consoleUrl?: string;
  /** The consoles of other clusters, this one perhaps among them. Absent: none is known. */
  abstract readonly clusters?: OtherClusters;
  /** The replicas that work on the namespaces. Absent, or undefined: keys are not spread by slots. */
  abstract readonly slots?: () => SlotOwners | undefined;
  abstract readonly lease: () => Promise<LeaseView | undefined>;
  abstract readonly peers: PeerRegistry;
  /** Shared by the replicas. Absent: this replica remembers for itself. */
  abstract readonly singleUses?: SingleUses;
  /** Problems beside the objects of the cluster: of replicas, of certificates. Absent: none is looked for. */
  abstract readonly besides?: { find(): Promise<readonly Diagnosis[]> };
}
