import type { Tracer } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import { IllegalStateError, InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, Kind } from '@rollkeeper/machinery/kubernetes';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { ControllerDefinition } from '../../controller/index.js';
import { HealthRegistry } from '../../health/index.js';
import type { Lister } from '@rollkeeper/client/informer';
import { InformerFactory } from '@rollkeeper/client/informer';
import type { ManagedController, ManagerState } from '../../manager/index.js';
import type { Metrics } from '../../telemetry/index.js';
import type { Assembly, ManagerParts } from './assemble-manager.js';
import { assembleManager } from './assemble-manager.js';
import type { Coordination } from '../coordination/coordination.js';
import type { Election } from './election.js';
import type { SlotCounts } from './manager-extension.js';
import { replicaOf } from './election.js';
import type { SlotOwners } from './slot-owners.js';
import { slotOwnersOf } from './slot-owners.js';
import type { SyncPlan } from './plan-sync.js';
import { planSync } from './plan-sync.js';
import { ProbeServer } from './probe-server.js';

/** Upper limit of the watch backoff: a short outage must not cost half a minute. */
const LONGEST_WATCH_BACKOFF_MS = 5000;

/** Each slot asks for a kind that is missing, or may not be listed. */
const REFUSED_BACKOFF_OF_SLOTS_MS = 30_000;

type ControllerManagerParts = ManagerParts & {
  /** Closed at the end by the manager, their only owner. */
  readonly closings: readonly (() => Promise<void>)[];
};

/**
 * One replica of an operator. Start as many as you like with the same name and Redis: one leads and turns changes into
 * keys, all process keys, and a key is never processed concurrently.
 */
export class ControllerManager {
  /** The API, without the fences of a sync: for one-time work such as installing a CRD. */
  readonly client: ApiClient;
  /** The checks of `/livez` and `/readyz`; add your own. */
  readonly health = new HealthRegistry();
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: string;
  /** All caches of this replica; with slots, of the namespaces that it holds. Request further ones before it runs. */
  readonly informers: InformerFactory;
  /** The caches of all namespaces, for controllers that slots do not spread; without slots the same. */
  private readonly whole: InformerFactory;
  private readonly definitions = new Map<string, ControllerDefinition>();
  private assembly: Assembly | undefined;
  private usable: Promise<void> | undefined;
  private closed: Promise<void> | undefined;
  private hasRun = false;
  private url: string | undefined;

  /** Use `createManager`. */
  constructor(private readonly parts: ControllerManagerParts) {
    const { cache, client, clock, identity, logger, metrics, random } = parts;
    this.client = client;
    this.metrics = metrics;
    this.tracer = parts.tracing.tracer;
    this.clock = clock;
    this.logger = logger;
    this.identity = identity;
    const factory = {
      // Pods are cached whole by default: a trimmed pod would surprise authors.
      trims: new Map(),
      ...cache,
      client,
      clock,
      random,
      logger,
      maxBackoffMs: LONGEST_WATCH_BACKOFF_MS,
    };
    this.whole = new InformerFactory(factory);
    const ofSlots = { ...factory, shards: [], maxRefusedBackoffMs: REFUSED_BACKOFF_OF_SLOTS_MS };
    this.informers = parts.slots === undefined ? this.whole : new InformerFactory(ofSlots);
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
   * The cache of a kind, for code outside of controllers. Requesting it makes the manager fill it; it is empty before.
   * @throws IllegalStateError if the manager runs and has no such cache
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

  /**
   * The writes that a sync of a key would make now, by the caches of this replica, without making any of them: see
   * {@link planSync}.
   * @throws InvalidOptionError for a controller that is not there; IllegalStateError before its caches are filled
   */
  async plan(controller: string, key: string, signal: AbortSignal): Promise<SyncPlan> {
    const definition = this.definitions.get(controller);
    if (!definition) throw new InvalidOptionError('controller', `no controller is named ${controller}`);
    const managed = this.assembly?.controllers.find((each) => each.controller.name === controller);
    if (!managed?.needs?.every(({ hasSynced }) => hasSynced))
      throw new IllegalStateError(`the caches of ${controller} are not filled yet`);
    const { clientOf, clock, random, rootCa, selects } = this.parts;
    const client = clientOf?.(definition) ?? this.client;
    const logger = this.logger.child({ controller });
    const { slots } = this.assembled();
    const isInSlots = slots && definition.perNamespace;
    const { namespaceOf = ({ namespace }) => namespace } = definition;
    if (isInSlots && !slots.held.owns(namespaceOf(parseKey(key))))
      throw new IllegalStateError(`another replica holds the slot of ${key}`);
    const informers = isInSlots ? this.informers : this.whole;
    return planSync({
      ...{ definition, key, client, signal },
      dependencies: { informers, discovery: client, clock, random, logger, rootCa, selects },
    });
  }

  get state(): ManagerState {
    return this.assembly?.manager.state ?? 'created';
  }

  /** Whether this replica leads now. */
  get isLeader(): boolean {
    return this.assembly?.election.isLeader ?? false;
  }

  /**
   * Whether this replica is the one that reports the objects of a namespace, in metrics for example: it owns their slot, or, without slots,
   * it leads.
   */
  tellsOf(namespace: string | undefined): boolean {
    const slots = this.assembly?.slots;
    return slots ? slots.held.owns(namespace) : this.isLeader;
  }

  /** How many slots there are, and this replica holds, as of now; undefined where keys are not spread by slots. */
  get slots(): SlotCounts | undefined {
    const slots = this.assembly?.slots;
    if (!slots) return undefined;
    const { held, keeper, leader } = slots;
    const { unowned } = leader;
    return {
      ...{ count: held.count, owned: held.begun.size, standby: keeper.standbyCount },
      ...(unowned !== undefined && { unowned }),
    };
  }

  /** The replicas that work on the namespaces; undefined where keys are not spread by slots. */
  get slotOwners(): SlotOwners | undefined {
    const { controllers, slots } = this.assembly ?? {};
    return slots && slotOwnersOf(slots, controllers ?? []);
  }

  /** The leading replica, as far as this one has seen; empty: none. */
  get leader(): string {
    return replicaOf(this.assembly?.election.leader ?? '');
  }

  /** The replicas that process keys. */
  get reconcileOn(): 'all' | 'leader' {
    return this.parts.reconcileOn;
  }

  /** The URL of the probes, once they are served. */
  get probesUrl(): string | undefined {
    return this.url;
  }

  /**
   * Assembles the controllers without connecting anything, so that `health` has all its checks; `run` does it as well.
   */
  assemble(): this {
    this.assembled();
    return this;
  }

  /** The assembled controllers, in the order of their adding; none can be added after this. */
  get controllers(): readonly ManagedController[] {
    return this.assembled().controllers;
  }

  /** The lease and its history, as this replica sees them; no controller can be added after this. */
  get election(): Election {
    return this.assembled().election;
  }

  /**
   * Records Events about what no sync sees, in the name of a component: written in the background while the manager runs. No
   * controller can be added after this.
   */
  eventsOf(component: string): EventRecorder {
    return this.assembled().eventsOf(component);
  }

  /** The coordination, to check whether it answers; no controller can be added after this. */
  get coordination(): Pick<Coordination, 'name' | 'ping'> {
    return this.assembled().coordination;
  }

  /**
   * Resolves once the queues, locks and the lease can be used. `run` waits for the same, and also for the claim on the
   * keys, which this does not.
   * @throws StartupError with the one line to show
   */
  waitUntilUsable(signal: AbortSignal): Promise<void> {
    this.usable ??= this.untilUsable(signal);
    return this.usable;
  }

  /**
   * Runs until aborted: probes first, then caches, workers, the election; on shutdown, keys in progress finish and the
   * lease is handed over. Resolves after a clean stop; rejects, with everything stopped, if a part failed permanently.
   * Once only.
   * @throws StartupError with the one line to show
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('a manager runs once');
    const { clock, extensions, logger, probes } = this.parts;
    const { guard, manager } = this.assembled();
    this.hasRun = true;
    const { health, metrics } = this;
    const server = probes && new ProbeServer(probes, { health, metrics, clock });
    try {
      this.url = await server?.listen();
      logger.info('starting', {
        version: VERSION,
        controllers: [...this.definitions.keys()],
        probes: this.url,
      });
      for (const extension of extensions) await extension.start?.(this);
      await this.waitUntilUsable(signal);
      for (const extension of extensions) extension.usable?.();
      await guard?.enter(signal);
      await manager.run(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.close();
      await server?.close();
    }
  }

  /** Only needed if `run` is never called. */
  close(): Promise<void> {
    this.closed ??= this.closeAll();
    return this.closed;
  }

  private async closeAll(): Promise<void> {
    const { closings, extensions, logger } = this.parts;
    const ends = await Promise.allSettled([this.assembly?.close(), ...closings.map((close) => close())]);
    // Pages for people stay until everything else has stopped.
    ends.push(...(await Promise.allSettled(extensions.map(async (extension) => extension.close?.()))));
    for (const end of ends)
      if (end.status === 'rejected') logger.warn('a part did not close cleanly', { error: end.reason });
  }

  private async untilUsable(signal: AbortSignal): Promise<void> {
    const { coordination, guard } = this.assembled();
    await coordination.waitUntilUsable(signal);
    await guard?.enterSoon(signal);
  }

  private assembled(): Assembly {
    if (this.definitions.size === 0)
      throw new IllegalStateError('a manager without controllers has nothing to do');
    this.assembly ??= assembleManager(
      [...this.definitions.values()],
      { informers: this.informers, whole: this.whole },
      this.health,
      this.parts,
    );
    return this.assembly;
  }
}
