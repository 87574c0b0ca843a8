import { uuidOf } from '@rollkeeper/machinery/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';
import type {
  ActorRuntime,
  ActorStore,
  ControllerQueue,
  MemoryActorStore,
} from '@rollkeeper/runtime/activation';
import { QueuedActivations, StoredActorRuntime } from '@rollkeeper/runtime/activation';
import type { LeaseRequest, MemoryLease, ResourceLock } from '@rollkeeper/runtime/leader-election';
import { MemoryResourceLock } from '@rollkeeper/runtime/leader-election';
import type { LeaderTerm, WorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { compileWorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { localActivations } from '@rollkeeper/runtime/operator/local-activations';
import type { MemoryClusterClaims } from '@rollkeeper/runtime/operator/memory-coordination';
import type {
  ClusterClaims,
  Coordination,
  CoordinationFactory,
  CoordinationParts,
} from '@rollkeeper/runtime/operator/coordination';
import type { MemoryPresence } from '../fake-holder-witness.js';
import { MemoryHolderWitness } from '../fake-holder-witness.js';
import { ConnectionBrokenError } from './network.js';
import type { Network } from './network.js';
import type { SimulatedProcess } from './process.js';
import type { ServedQueue } from './served-queue.js';
import type { QueueCalls } from './simulated-consumer.js';
import { SimulatedConsumer } from './simulated-consumer.js';

/** How long a command waits for its answer, milliseconds: as the client of Redis does. */
const COMMAND_TIMEOUT_MS = 2000;
/** The same of the actors' commands: a renewal that hangs must leave time for another. */
const ACTOR_TIMEOUT_MS = 834;
/** A queue holds a request for a key for a while. */
const TAKE_TIMEOUT_MS = 6000;

/** Changes what a replica gets of its coordination, to watch or to disturb it. */
export interface CoordinationViews {
  /** @default as it is */
  readonly actors?: (actors: ActorRuntime) => ActorRuntime;
}

/** Methods whose commands Redis refuses while it has no memory left. Those that only read, renew or remove are not. */
const NEED_MEMORY: ReadonlySet<string> = new Set([
  ...['add', 'addAfter', 'addRateLimited', 'park', 'acquire', 'storeIntents', 'recordCauses', 'claim'],
]);

/** There is no memory for a write. */
export class StoreFullError extends Error {
  readonly code = 'OOM';

  constructor(what: string) {
    super(`OOM: no memory for ${what}`);
    this.name = 'StoreFullError';
  }
}

type AsyncMethods<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => Promise<R> : never;
};

/** The parts of a store in memory that its replicas share. */
export interface SharedStore {
  readonly process: SimulatedProcess;
  /** How likely a write that needs memory is refused, from 0 to 1. */
  readonly full: number;
  readonly actors: MemoryActorStore;
  readonly lease: MemoryLease;
  readonly claims: MemoryClusterClaims;
  readonly presence: MemoryPresence;
  /** The queue of a controller, made when it is first asked for. */
  queue(name: string, options: WorkQueueOptions): ServedQueue;
}

/** The coordination of one simulated process: everything it asks of the store goes over the network. */
export function simulatedCoordination(
  process: SimulatedProcess,
  store: SharedStore,
  network: Network,
  views: CoordinationViews = {},
): CoordinationFactory {
  return (parts) => new SimulatedCoordination(process, store, network, views, parts);
}

class SimulatedCoordination implements Coordination {
  readonly name = 'simulated';
  readonly claims: ClusterClaims;
  private readonly actors: ActorRuntime;
  /** Callbacks that end the questions without an answer when the connection is closed. */
  private readonly open = new Set<() => void>();

  constructor(
    private readonly process: SimulatedProcess,
    private readonly store: SharedStore,
    private readonly network: Network,
    views: CoordinationViews,
    private readonly parts: CoordinationParts,
  ) {
    const { clock, random } = process;
    this.claims = this.remote<Pick<ClusterClaims, 'owner' | 'claim' | 'replace'>>(
      'claims',
      ['owner', 'claim', 'replace'],
      () => store.claims,
    );
    const actors = new StoredActorRuntime({
      store: this.remote<ActorStore>(
        'actor',
        ['acquire', 'renew', 'release', 'storeIntents', 'recordCauses'],
        () => store.actors,
        ACTOR_TIMEOUT_MS,
        new Set(['renew', 'recordCauses', 'storeIntents']),
      ),
      newOwner: () => uuidOf(random),
      ...{ clock, logger: parts.logger },
    });
    this.actors = views.actors?.(actors) ?? actors;
  }

  activationsOf: Coordination['activationsOf'] = (name, { tuning, waitsIn } = {}) => {
    const { actors, parts, store } = this;
    const { clock, drainTimeoutMs, logger, queueView = (queue) => queue, random, spreadAfterMs } = parts;
    if (waitsIn === 'local') return localActivations(name, actors, parts, tuning);
    const options = compileWorkQueueOptions({ ...tuning, drainTimeoutMs, spreadAfterMs });
    const served = (): ServedQueue => store.queue(name, options);
    const queue = this.queueOf(name, served);
    const calls: QueueCalls = {
      take: (waitMs, signal) =>
        this.ask(`${name} queue take`, () => served().take(waitMs), { signal, timeoutMs: TAKE_TIMEOUT_MS }),
      ...this.remote<Pick<ServedQueue, 'renew' | 'finish'>>(`${name} queue`, ['renew', 'finish'], served),
    };
    const { lockDurationMs } = options;
    const consumer = new SimulatedConsumer({ name, clock, calls, queue, lockDurationMs, drainTimeoutMs });
    return new QueuedActivations({
      ...{ queue: queueView(queue), consumer, actors, clock, random, logger },
    });
  };

  lockOf(identity: string): ResourceLock {
    const { network, process, store } = this;
    const lock = (): MemoryResourceLock => new MemoryResourceLock(store.lease, identity);
    return {
      identity,
      describe: () => 'simulated lease',
      get: (signal) => this.ask('lease get', () => lock().get(), { signal }),
      tryAcquireOrRenew: (durationMs, { signal, ...request }: LeaseRequest = {}) =>
        this.ask('lease try', () => lock().tryAcquireOrRenew(durationMs, request), {
          ...{ signal, needsMemory: true },
        }),
      release: (signal) => this.ask('lease release', () => lock().release(), { signal }),
      onReleased: (wake) =>
        store.lease.onReleased(() => network.post(store.process, process, 'lease released', wake)),
    };
  }

  witnessOf(identity: string): MemoryHolderWitness {
    const { network, process, store } = this;
    const { presence } = store;
    const witness = new MemoryHolderWitness(identity, presence, (callback) => process.after(0, callback));
    process.onKilled(() => presence.hide(identity));
    const look = witness.look.bind(witness);
    witness.look = (who, place, signal) =>
      network.call({
        from: process,
        to: store.process,
        text: 'witness look',
        effect: () => look(who, place, new AbortController().signal),
        signal,
      });
    return witness;
  }

  waitUntilUsable(): Promise<void> {
    return Promise.resolve();
  }

  async ping(): Promise<void> {
    await this.ask('ping', () => Promise.resolve());
  }

  /** As the end of a real connection does: no question waits for its answer any more. */
  close(): Promise<void> {
    for (const end of [...this.open]) end();
    return Promise.resolve();
  }

  private queueOf(name: string, served: () => ServedQueue): ControllerQueue {
    const methods = [
      ...(['add', 'addAfter', 'addRateLimited', 'park', 'forget', 'numRequeues'] as const),
      ...(['counts', 'parked', 'inspect', 'inspectKey', 'purge'] as const),
    ];
    const calls = this.remote<Pick<ControllerQueue, (typeof methods)[number]>>(
      `${name} queue`,
      methods,
      () => served().queue,
      COMMAND_TIMEOUT_MS,
      new Set(['add', 'addAfter', 'forget']),
    );
    return {
      ...calls,
      name,
      close: () => Promise.resolve(),
      beginTerm: async (term: LeaderTerm) => {
        await this.ask(`${name} queue begins term ${term.epoch}`, () => served().beginTerm(term), {
          needsMemory: true,
        });
        // The term is looked up where it is checked, since the queue may have lost it by then.
        const inTerm = () => served().inTerm(term);
        return {
          check: () => this.ask(`${name} queue check term ${term.epoch}`, async () => inTerm().check()),
          add: (key, options) =>
            this.ask(
              `${name} queue add ${key} in term ${term.epoch}`,
              async () => inTerm().add(key, options),
              { mayBeDoubled: true, needsMemory: true },
            ),
        };
      },
    };
  }

  /** An object in the store's process, of which these methods are called over the network. */
  private remote<T extends object>(
    what: string,
    methods: readonly (keyof T & string)[],
    target: () => T,
    timeoutMs = COMMAND_TIMEOUT_MS,
    doubled: ReadonlySet<string> = new Set(),
  ): T & AsyncMethods<T> {
    const calls = methods.map((method) => [
      method,
      (...args: readonly unknown[]): Promise<unknown> => {
        // Found when the call arrives: the store may have lost it until then.
        const effect = async (): Promise<unknown> => {
          const callee = target() as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
          return callee[method]!(...args);
        };
        const mayBeDoubled = doubled.has(method);
        const needsMemory = NEED_MEMORY.has(method);
        const text = `${what} ${method}${subjectOf(args[0])}`;
        return this.ask(text, effect, { timeoutMs, mayBeDoubled, needsMemory });
      },
    ]);
    return Object.fromEntries(calls) as T & AsyncMethods<T>;
  }

  /** @throws TimeoutError; ConnectionBrokenError; StoreFullError; the reason of `signal` */
  private ask<T>(
    text: string,
    work: () => Promise<T>,
    options: { signal?: AbortSignal; timeoutMs?: number; mayBeDoubled?: boolean; needsMemory?: boolean } = {},
  ): Promise<T> {
    const { network, process, store } = this;
    const { mayBeDoubled, needsMemory, signal, timeoutMs = COMMAND_TIMEOUT_MS } = options;
    const effect = async (): Promise<T> => {
      if (needsMemory && store.full > 0 && process.kernel.random.next() < store.full) {
        network.count('write refused by a full store');
        throw new StoreFullError(text);
      }
      return work();
    };
    return new Promise((resolve, reject) => {
      const timer = process.clock.setTimeout(
        () => reject(new TimeoutError(`${text}: no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const closed = (): void => {
        timer.cancel();
        reject(new ConnectionBrokenError(text));
      };
      this.open.add(closed);
      network
        .call({ from: process, to: store.process, text, effect, signal, mayBeDoubled })
        .finally(() => {
          timer.cancel();
          this.open.delete(closed);
        })
        .then(resolve, reject);
    });
  }
}

function subjectOf(argument: unknown): string {
  if (typeof argument === 'string') return ` ${argument}`;
  if (typeof argument !== 'object' || argument === null || !('key' in argument)) return '';
  const { controller, key } = argument as { readonly controller?: string; readonly key: string };
  return ` ${controller ?? ''} ${key}`;
}
