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
import type { WatchedStore } from './store-watch.js';

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
  /** Absent where no controller here watches nodes. */
  readonly nodes?: Informer<Node>;
}

/** Everything that the admin API shows and does, as this replica has it. */
export interface AdminPorts {
  readonly identity: string;
  readonly startedAtMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whoever knows it may change things, and read from anywhere. Absent: nothing can be changed. */
  readonly token?: string;
  /** Judges other tokens. Absent: they are wrong. */
  readonly delegated?: AccessJudge;
  /** Whether metrics are for everybody who reaches the port. @default false */
  readonly openMetrics?: boolean;
  /** Who on this machine reads without a token. @default 'anyone' */
  readonly localReads?: LocalReads;
  /** What the port is served with. Absent: plain HTTP. */
  readonly certificate?: ServedCertificate;
  readonly status: StatusSource;
  /** What the replicas share. */
  readonly store: WatchedStore;
  /** The options in force, without secrets. */
  config(): Readonly<Record<string, unknown>>;
  readonly logLevel: { get(): string; set(level: string): void };
  /** By controller. */
  queues(): ReadonlyMap<string, WorkQueueInspector & WorkQueueTending>;
  /** Whether a controller's caches have an object under a key. Undefined: they cannot tell, or not yet. */
  hasObject(controller: string, key: string): boolean | undefined;
  /** One for each API whose Deployments a controller here watches. */
  caches(): readonly DeploymentCaches[];
  readonly decisions: DecisionLog;
  readonly running: RunningSyncs;
  readonly traces: { of(traceId: string): readonly ShownSpan[] };
  lease(): Promise<LeaseView | undefined>;
  readonly peers: PeerRegistry;
}
