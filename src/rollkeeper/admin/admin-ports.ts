import type { Clock } from '@rollkeeper/machinery/clock';
import type { AccessJudge } from '../delegated-access/index.js';
import type { DecisionLog, RunningSyncs } from '../explain/index.js';
import type { Informer } from '@rollkeeper/client/informer';
import type { Deployment, Namespace, Node, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ShownSpan } from '@rollkeeper/opentelemetry';
import type { ServedCertificate } from '@rollkeeper/tls';
import type { WorkQueueInspector, WorkQueueTending } from '@rollkeeper/runtime/work-queue';
import type { LocalReads } from './decide-access.js';
import type { StatusSource } from './status-source.js';

/** A replica as the others find it. */
export interface Peer {
  readonly identity: string;
  readonly adminUrl: string;
  readonly pid: number;
  readonly startedAtMs: number;
  /** By which its admin port is known: SHA-256 fingerprints. Absent: it speaks plain HTTP. */
  readonly certificates?: readonly string[];
  /** That whoever announced it has the admin token; see {@link proofOf}. Absent: they have none. */
  readonly proof?: string;
}

export interface PeerRegistry {
  /** All replicas that were there lately, this one included. */
  peers(): Promise<readonly Peer[]>;
}

/** What the replicas share. */
export interface WatchedStore {
  readonly name: string;
  /** Rejects, or does not settle, while it does not answer. */
  ping(): Promise<void>;
}

/** The lease as it was read just now. */
export interface LeaseView {
  readonly holder: string;
  readonly epoch: number;
  readonly durationMs: number;
  readonly renewedAtMs: number;
  readonly remainingMs: number;
}

/** This replica's caches of what an explanation of the Deployments of one API needs. */
export interface DeploymentCaches {
  /** `apps/v1`, or `rollkeeper.dev/v1`. */
  readonly apiVersion: string;
  /** The controller that works on them. */
  readonly controller: string;
  readonly deployments: Informer<Deployment>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  /** Absent where no controller here watches namespaces. */
  readonly namespaces?: Informer<Namespace>;
  /** What of each Namespace may be a default for its rollouts. @default what `namespaces` has */
  readonly namespacePolicies?: Informer;
  /** Absent where no controller here watches nodes. */
  readonly nodes?: Informer<Node>;
}

/** Everything that the admin API shows and does, as this replica has it. A class, so that it is its own injection token. */
export abstract class AdminPorts {
  abstract readonly identity: string;
  abstract readonly startedAtMs: number;
  abstract readonly clock: Clock;
  abstract readonly logger: Logger;
  /** Whoever knows it may change things, and read from anywhere. Absent: nothing can be changed. */
  abstract readonly token?: string;
  /** Judges other tokens. Absent: they are wrong. */
  abstract readonly delegated?: AccessJudge;
  /** Whether metrics are for everybody who reaches the port. @default false */
  abstract readonly openMetrics?: boolean;
  /** Who on this machine reads without a token. @default 'anyone' */
  abstract readonly localReads?: LocalReads;
  /** What the port is served with. Absent: plain HTTP. */
  abstract readonly certificate?: ServedCertificate;
  abstract readonly status: StatusSource;
  /** What the replicas share. */
  abstract readonly store: WatchedStore;
  /** The options in force, without secrets. */
  abstract readonly config: () => Readonly<Record<string, unknown>>;
  abstract readonly logLevel: { get(): string; set(level: string): void };
  /** By controller. */
  abstract readonly queues: () => ReadonlyMap<string, WorkQueueInspector & WorkQueueTending>;
  /** Whether a controller's caches have an object under a key. Undefined: they cannot tell, or not yet. */
  abstract readonly hasObject: (controller: string, key: string) => boolean | undefined;
  /** One for each API whose Deployments a controller here watches. */
  abstract readonly caches: () => readonly DeploymentCaches[];
  abstract readonly decisions: DecisionLog;
  abstract readonly running: RunningSyncs;
  abstract readonly traces: { of(traceId: string): readonly ShownSpan[] };
  abstract readonly lease: () => Promise<LeaseView | undefined>;
  abstract readonly peers: PeerRegistry;
}
