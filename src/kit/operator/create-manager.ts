import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { IllegalStateError, InvalidOptionError } from '../../base/errors/index.js';
import type { KubernetesObject } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import { VERSION } from '../../base/version.js';
import type { ApiClient } from '../api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../api-client/index.js';
import type { ControllerDefinition } from '../controller/index.js';
import { ApiEventRecorder } from '../events/index.js';
import { EventLoopMonitor, HealthRegistry } from '../health/index.js';
import type { Lister } from '../informer/index.js';
import { InformerFactory } from '../informer/index.js';
import type { ResourceLock } from '../leader-election/index.js';
import { LeaseResourceLock } from '../leader-election/index.js';
import type { ManagedController, ManagerState } from '../manager/index.js';
import { Manager } from '../manager/index.js';
import type { Metrics, Tracing } from '../telemetry/index.js';
import {
  createApiClientMetrics,
  createControllerMetrics,
  createEventRecorderMetrics,
  createLeaderElectionMetrics,
  createProcessMetrics,
  createWorkQueueMetrics,
  startTracing,
} from '../telemetry/index.js';
import { assembleController } from './assemble-controller.js';
import type { Coordination } from './coordination.js';
import type { CompiledManagerOptions, CreateManagerOptions } from './create-manager.options.js';
import { compileManagerOptions } from './create-manager.options.js';
import { Election } from './election.js';
import type { Kind } from './kinds.js';
import { ProbeServer } from './probe-server.js';
import { registerChecks } from './register-checks.js';
import { localQueue } from './local-queue.js';

/** A watch that cannot be resumed is tried at least so often: a short outage must not cost half a minute. */
const LONGEST_WATCH_BACKOFF_MS = 5000;

/**
 * Puts a manager together: an API client, caches, queues, leader election, health, metrics and traces, for the controllers that
 * are then added to it. Nothing connects or runs before {@link ControllerManager.run}.
 * @throws InvalidOptionError naming the option, or the field of the kubeconfig
 */
export async function createManager(options: CreateManagerOptions): Promise<ControllerManager> {
  const compiled = compileManagerOptions(options);
  const { identity, name } = compiled;
  const metrics = options.metrics ?? createProcessMetrics();
  const connected = options.client ? { client: options.client } : await connect(compiled, metrics);
  const tracing =
    options.tracing ??
    startTracing({ serviceName: name, instance: identity, version: VERSION, env: process.env });
  const closings = [
    ...('close' in connected ? [() => connected.close()] : []),
    ...(options.metrics ? [] : [() => metrics.shutdown()]),
    ...(options.tracing ? [] : [() => tracing.shutdown()]),
  ];
  return new ControllerManager({ ...compiled, client: connected.client, closings, metrics, tracing });
}

async function connect(options: CompiledManagerOptions, { meter }: Metrics) {
  const { clock, context, kubeconfig, logger, name, random } = options;
  const client = createHttpApiClient({
    connection: await loadKubeconfig({ path: kubeconfig, context, clock }),
    userAgent: `${name} rollkeeper/${VERSION}`,
    clock,
    random,
    logger,
    metrics: createApiClientMetrics(meter),
  });
  return { client, close: () => client.close() };
}

type ManagerParts = CompiledManagerOptions & {
  readonly client: ApiClient;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** Closed at the end, because nobody else does. */
  readonly closings: readonly (() => Promise<void>)[];
};

interface Assembly {
  readonly manager: Manager;
  readonly controllers: readonly ManagedController[];
  readonly coordination: Coordination;
  readonly election: Election;
}

/**
 * One replica of an operator. Start as many as you like with the same name and Redis: one leads and turns changes into keys, all
 * work on keys, and no key is worked on twice at the same time.
 */
export class ControllerManager {
  /** The API, without the fences of a sync: for what is done once, such as the installation of a CRD. */
  readonly client: ApiClient;
  /** What `/livez` and `/readyz` ask; add your own checks. */
  readonly health = new HealthRegistry();
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly identity: string;
  private readonly definitions = new Map<string, ControllerDefinition>();
  private readonly informers: InformerFactory;
  private assembly: Assembly | undefined;
  private url: string | undefined;

  /** By {@link createManager}. */
  constructor(private readonly parts: ManagerParts) {
    const { cache, client, clock, identity, logger, metrics, random } = parts;
    this.client = client;
    this.metrics = metrics;
    this.logger = logger;
    this.identity = identity;
    this.informers = new InformerFactory({
      // Nobody shall wonder where half of his pod is.
      trims: new Map(),
      ...cache,
      client,
      clock,
      random,
      logger,
      maxBackoffMs: LONGEST_WATCH_BACKOFF_MS,
    });
  }

  /** @throws IllegalStateError after `run`; InvalidOptionError for a second controller of a name */
  add(...definitions: readonly ControllerDefinition[]): this {
    if (this.assembly) throw new IllegalStateError('controllers are added before the manager runs');
    for (const definition of definitions) {
      if (this.definitions.has(definition.name))
        throw new InvalidOptionError('controller.name', `there are two controllers named ${definition.name}`);
      this.definitions.set(definition.name, definition);
    }
    return this;
  }

  /**
   * The cache of a kind, for what is not a controller. Asking makes the manager fill it; it is empty before.
   * @throws IllegalStateError where the manager runs and has no such cache
   */
  lister<T extends KubernetesObject>(kind: Kind<T>): Lister<T> {
    const known = this.informers.all().length;
    const { lister } = this.informers.informerFor<T>(kind);
    if (this.assembly && this.informers.all().length > known)
      throw new IllegalStateError(
        `there is no cache of ${kind.resource}: ask for it before the manager runs`,
      );
    return lister;
  }

  get state(): ManagerState {
    return this.assembly?.manager.state ?? 'created';
  }

  /** Whether this replica leads at this moment. */
  get isLeader(): boolean {
    return this.assembly?.election.isLeader ?? false;
  }

  /** The identity of who leads, as far as this replica has seen; empty: nobody. */
  get leader(): string {
    return this.assembly?.election.leader.replace(/_[^_]*$/, '') ?? '';
  }

  /** Where the probes are served, once they are. */
  get probesUrl(): string | undefined {
    return this.url;
  }

  /** The controllers, put together, in the order of their adding; from then on none is added. */
  get controllers(): readonly ManagedController[] {
    return this.assembled().controllers;
  }

  /**
   * Works until aborted: probes first, then caches, workers, the election; on the way out the running keys finish, and the lease is
   * handed over. Resolves after a clean stop; rejects, everything stopped, when a part failed for good. Once only.
   * @throws StartupError with the one line that a person is shown
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.state !== 'created') throw new IllegalStateError('a manager runs once');
    const { clock, logger, probes } = this.parts;
    const { coordination, manager } = this.assembled();
    const { health, metrics } = this;
    const server = probes && new ProbeServer(probes, { health, metrics, clock });
    try {
      this.url = await server?.listen();
      logger.info('starting', {
        version: VERSION,
        controllers: [...this.definitions.keys()],
        probes: this.url,
      });
      await coordination.waitUntilUsable(signal);
      await manager.run(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.close();
      await server?.close();
    }
  }

  /** Only needed where `run` is never called. */
  async close(): Promise<void> {
    const { closings, logger } = this.parts;
    const ends = await Promise.allSettled([
      this.assembly?.coordination.close(),
      ...closings.map((close) => close()),
    ]);
    for (const end of ends)
      if (end.status === 'rejected')
        logger.warn('a part did not close cleanly', { error: end.reason as unknown });
  }

  private assembled(): Assembly {
    this.assembly ??= this.assemble();
    return this.assembly;
  }

  private assemble(): Assembly {
    const { informers, parts } = this;
    const {
      around,
      background = [],
      caughtUpTimeoutMs,
      client,
      clock,
      identity,
      logger,
      metrics,
      name,
      random,
    } = parts;
    const { tracer } = parts.tracing;
    const definitions = [...this.definitions.values()];
    if (definitions.length === 0)
      throw new IllegalStateError('a manager without controllers has nothing to do');
    const queueParts = {
      clock,
      logger,
      drainTimeoutMs: parts.drainTimeoutMs,
      metrics: createWorkQueueMetrics(metrics.meter, [...this.definitions.keys()]),
    };
    const coordination = parts.coordination({ keyPrefix: parts.prefix, ...queueParts });
    const events = new ApiEventRecorder({
      client,
      component: name,
      host: hostname(),
      clock,
      random,
      logger,
      metrics: createEventRecorderMetrics(metrics.meter),
    });
    const workersOf = new Map(definitions.map((each) => [each.name, each.defaultWorkers]));
    const shared = {
      identity,
      clientOf: () => client,
      informers,
      queueOf: (controller: string) => coordination.queueOf(controller),
      localQueueOf: (controller: string) => localQueue(controller, queueParts),
      actors: coordination.actors,
      eventsOf: (component: string) => events.as(component),
      ...{ clock, random, logger, tracer, caughtUpTimeoutMs, around },
      metrics: createControllerMetrics(metrics.meter, workersOf),
    };
    const controllers = definitions.map((definition) => assembleController(definition, shared));
    const election = new Election({
      lock: lockOf(parts, coordination),
      options: parts.election,
      metrics: createLeaderElectionMetrics(metrics.meter, 'leader'),
      clock,
      random,
      logger,
    });
    const eventLoop = new EventLoopMonitor(clock);
    const manager = new Manager({
      informers,
      elector: election,
      controllers,
      actors: coordination.actors,
      background: [events, eventLoop, ...background],
      clock,
      logger,
      tracer,
    });
    registerChecks(this.health, {
      manager,
      informers,
      election,
      controllers,
      client,
      coordination,
      eventLoop,
    });
    return { manager, controllers, coordination, election };
  }
}

/** A process that comes back under its old name must not take its former life's lease for its own. */
function lockOf(
  { client, clock, identity, name, place }: ManagerParts,
  coordination: Coordination,
): ResourceLock {
  const ofThisLife = `${identity}_${randomUUID()}`;
  if (place.lock === 'redis') return coordination.lockOf(ofThisLife);
  return new LeaseResourceLock({ client, identity: ofThisLife, namespace: place.namespace, name, clock });
}
