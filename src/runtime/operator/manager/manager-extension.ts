import type { Tracer } from '@opentelemetry/api';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { SyncObserver } from '../../controller/index.js';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { HealthRegistry } from '../../health/index.js';
import type { InformerFactory } from '@rollkeeper/client/informer';
import type { ManagedController, Runnable } from '../../manager/index.js';
import type { Metrics } from '../../telemetry/index.js';
import type { Coordination } from '../coordination/coordination.js';
import type { Election } from './election.js';
import type { SlotOwners } from './slot-owners.js';

/** The facts that an extension may know of its manager before there is one. */
export interface ManagerExtensionContext {
  readonly name: string;
  readonly identity: string;
  /** Prefix of all keys in Redis. */
  readonly prefix: string;
  /** Absent: the manager's coordination was given to it. */
  readonly redisUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Numbers of slots. */
export interface SlotCounts {
  /** In the installation. */
  readonly count: number;
  /** This replica works on their keys. */
  readonly owned: number;
  /** This replica keeps them current for others. */
  readonly standby: number;
  /** No replica works on these; known to the leader alone. */
  readonly unowned?: number;
}

/** The manager as an extension finds it when it starts. */
export interface ExtendedManager {
  readonly identity: string;
  readonly client: ApiClient;
  readonly health: HealthRegistry;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly informers: InformerFactory;
  readonly controllers: readonly ManagedController[];
  readonly election: Election;
  /** The shared coordination. */
  readonly coordination: Pick<Coordination, 'name' | 'ping'>;
  readonly reconcileOn: 'all' | 'leader';
  /** How many slots there are, and this replica holds, as of now. @default keys are not spread by slots */
  readonly slots?: SlotCounts | undefined;
  /** The replicas that work on the namespaces. @default keys are not spread by slots */
  readonly slotOwners?: SlotOwners | undefined;
  /** The leading replica, as far as this one has seen; empty: none. */
  readonly leader: string;
}

/** An extension that runs beside the controllers of a manager and observes them; `rollkeeper/admin` has one. */
export interface ManagerExtension {
  /** Also receive every span that ends, if the manager creates its own tracing. */
  readonly spanProcessors?: readonly SpanProcessor[];
  /** Run from before the informers until after everything else. */
  readonly background?: readonly Runnable[];
  /** Watches every sync of the manager's controllers. */
  readonly observer?: SyncObserver;
  /** At the beginning of `run`, before anything connects. @throws StartupError: the manager does not start */
  start?(manager: ExtendedManager): Promise<void>;
  /** Once Redis can be used, before the informers start. */
  usable?(): void;
  /** At the very end, and also if `start` was never called. */
  close?(): Promise<void>;
}

/** Makes an extension for the manager that has it in its `extensions`. */
export type ManagerExtensionFactory = (context: ManagerExtensionContext) => ManagerExtension;
