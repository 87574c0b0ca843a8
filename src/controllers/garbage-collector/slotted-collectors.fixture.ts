import { trace } from '@opentelemetry/api';
import type {
  ApiClient,
  ListOptions,
  ListPage,
  WatchEvent,
  WatchOptions,
} from '../../client/api-client/index.js';
import { ObjectShard } from '../../client/api-client/index.js';
import { InformerFactory } from '../../client/informer/index.js';
import { aborted } from '../../machinery/cancellation/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import type { KubernetesObject, ResourceType } from '../../machinery/kubernetes/index.js';
import {
  qualifiedResource,
  shardHash,
  shardIndexOf,
  shardRangeOf,
} from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { MemoryActorStore, StoredActorRuntime } from '../../runtime/activation/index.js';
import { noControllerMetrics } from '../../runtime/controller/index.js';
import { workInSlots } from '../../runtime/manager/slotted-work.js';
import { localActivations } from '../../runtime/operator/coordination/local-activations.js';
import { assembleController } from '../../runtime/operator/manager/assemble-controller.js';
import { HeldSlots } from '../../runtime/slots/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import type { ClusterEvent } from '../../testing/fake-cluster.js';
import { createGarbageCollectorController } from './garbage-collector-definition.js';

export const SLOTS = 8;

/** A namespace of each slot, by its number; that of objects without a namespace is {@link SLOT_OF_NONE}. */
export const NAMESPACES: readonly string[] = Array.from({ length: SLOTS }, (_, slot) => {
  for (let at = 0; ; at++) {
    const name = `n${at}-team`;
    if (shardIndexOf(shardHash(name), SLOTS) === slot) return name;
  }
});
export const SLOT_OF_NONE = shardIndexOf(shardHash(''), SLOTS);

const SHARDS = NAMESPACES.map(
  (_, slot) => new ObjectShard('object.metadata.namespace', [shardRangeOf(slot, SLOTS)]),
);

/** A cluster whose server serves shards, for informers as replicas have them. */
export class ShardedCluster extends FakeCluster {
  /** A list is answered once it has resolved. */
  beforeList: (type: ResourceType, options: ListOptions) => Promise<void> = () => Promise.resolve();
  private readonly history: { readonly type: string; readonly event: ClusterEvent }[] = [];
  private readonly wakes = new Set<() => void>();

  constructor() {
    super();
    this.onEvent((type, event) => {
      this.history.push({ type: qualifiedResource(type), event });
      for (const wake of [...this.wakes]) wake();
    });
  }

  override async list<T extends KubernetesObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    await this.beforeList(type, options);
    const page = await super.list<T>(type, options);
    const { shard } = options;
    if (!shard) return page;
    return { ...page, items: page.items.filter((item) => shard.includes(item)), isShardSelected: true };
  }

  override async *watch<T extends KubernetesObject>(
    type?: ResourceType,
    options?: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const { resourceVersion, shard, signal } = options!;
    const name = qualifiedResource(type!);
    let at = 0;
    while (!signal.aborted) {
      for (; at < this.history.length; at++) {
        const { event, type: changed } = this.history[at]!;
        const isNews = Number(event.object.metadata.resourceVersion) > Number(resourceVersion);
        if (changed === name && isNews && (shard?.includes(event.object) ?? true))
          yield structuredClone(event) as unknown as WatchEvent<T>;
      }
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.wakes.delete(done);
          resolve();
        };
        this.wakes.add(done);
        signal.addEventListener('abort', done, { once: true });
      });
    }
  }
}

/** The collector of one replica, with its own clock, queue and caches, on locks that all replicas share. */
export class SlottedCollector {
  readonly clock = new FakeClock();
  readonly held = new HeldSlots(SLOTS);
  readonly informers: InformerFactory;
  readonly figures: () => Readonly<Record<string, number>>;
  private readonly stopper = new AbortController();
  private readonly running: Promise<unknown>;
  private isDead = false;

  constructor(
    readonly name: string,
    cluster: FakeCluster,
    store: MemoryActorStore,
  ) {
    const { clock } = this;
    const random = new SeededRandom(name.charCodeAt(0));
    const client = this.mortal(cluster);
    const factory = { client, clock, random, logger: silentLogger };
    this.informers = new InformerFactory({ ...factory, shards: [] });
    const actors = new StoredActorRuntime({
      store,
      clock,
      newOwner: () => `${name}-${clock.monotonicNow()}`,
    });
    const metrics = undefined as never;
    const parts = { clock, random, logger: silentLogger, metrics, drainTimeoutMs: 3000, spreadAfterMs: 0 };
    const managed = assembleController(createGarbageCollectorController(), {
      ...{ identity: name, clock, random, logger: silentLogger, metrics: noControllerMetrics },
      clientOf: () => client,
      informers: new InformerFactory(factory),
      slots: { held: this.held, informers: this.informers },
      activationsOf: (queue) => localActivations(queue, actors, parts as never),
      eventsOf: () => ({ record: () => undefined }),
      tracer: trace.getTracer('test'),
      caughtUpTimeoutMs: 5_000,
    });
    this.figures = () => managed.built.figures?.() ?? {};
    this.running = Promise.all([
      this.informers.run(this.stopper.signal),
      workInSlots(
        [{ ...managed, untilFilled: Promise.resolve() }],
        { held: this.held, keeper: { run: aborted }, clock, logger: silentLogger },
        this.stopper.signal,
      ),
    ]);
  }

  /** Owns these slots from now on, and keeps copies of those for which it stands by. */
  hold(owned: readonly number[], standby: readonly number[] = []): void {
    const epochs = new Map(owned.map((slot) => [slot, 1]));
    this.held.endOthers(epochs);
    this.informers.setShards([...new Set([...owned, ...standby])].sort().map((slot) => SHARDS[slot]!));
    this.held.begin(epochs);
  }

  /** Does nothing any more: its requests are not answered, and its time stands. */
  die(): void {
    this.isDead = true;
  }

  async advance(ms: number): Promise<void> {
    if (!this.isDead) await this.clock.advance(ms);
  }

  async stop(): Promise<void> {
    this.stopper.abort(new Error('the test is over'));
    if (this.isDead) return;
    for (let round = 0; round < 5; round++) await this.clock.advance(2_000);
    await this.running;
  }

  private mortal(cluster: FakeCluster): ApiClient {
    const isDead = (): boolean => this.isDead;
    return new Proxy<ApiClient>(cluster, {
      get(target, property, receiver) {
        const method: unknown = Reflect.get(target, property, receiver);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]): unknown =>
          isDead()
            ? new Promise(() => undefined)
            : (method as (...all: unknown[]) => unknown).apply(target, args);
      },
    });
  }
}

/** Several replicas on one cluster. */
export class SlottedCollectors {
  readonly cluster = new ShardedCluster();
  readonly replicas: readonly SlottedCollector[];
  private readonly clock = new FakeClock();

  constructor(names: readonly string[]) {
    const store = new MemoryActorStore(this.clock);
    this.replicas = names.map((name) => new SlottedCollector(name, this.cluster, store));
  }

  /** Moves the time of all that live. */
  async advance(ms: number, stepMs = 250): Promise<void> {
    for (let at = 0; at < ms; at += stepMs) {
      await this.clock.advance(stepMs);
      for (const replica of this.replicas) await replica.advance(stepMs);
    }
  }

  async stop(): Promise<void> {
    for (const replica of this.replicas) await replica.stop();
  }
}
