import type { CreateManagerOptions } from '@rollkeeper/runtime';
import type { ActorId } from '@rollkeeper/runtime/activation';
import { redisCoordination } from '@rollkeeper/redis';
import type { Dice, StoreFaultKind } from '../../fault-kinds.js';
import type { Network } from '../../network.js';
import type { SimulatedProcess } from '../../process.js';
import type { CoordinationViews } from '../../simulated-coordination.js';
import type { ReachableRedis, StoredQueue, WorldStore } from '../../world-store.js';
import type { RedisSnapshot } from '../simulated-redis.js';
import { SimulatedRedis } from '../simulated-redis.js';
import { ProcessGlobals } from './process-globals.js';
import { RedisLinks } from './redis-links.js';
import type { DelayedKey } from '@rollkeeper/runtime/work-queue/queue-inspection';
import type { Reply } from '../resp/reply.js';
import { DoubleReply, MapReply, PairsReply } from '../resp/reply.js';

/** The keys of queues, of the lease and of slots; all other state outlives a fault, see {@link WorldStore.loseQueues}. */
const LOST = /^\{[^{}:]+:queue:|:lease:|:slots-\d+/;
const QUEUE = /^\{[^{}:]+:queue:[^{}:]+\}/;
const SLOT_TABLE = /:slots-\d+$/;
const ACTOR = /^\{[^{}:]+:actor:(?<controller>[^{}:]+):(?<key>[^{}]+)\}$/;
/** How long a restart takes, milliseconds. */
const DOWN_MS = 1500;
/** A fail-over loses the writes of so long at most, milliseconds. */
const LOST_WRITES_MS = 1000;

/** Options of a {@link RedisStore}. */
export interface RedisStoreOptions {
  /** Replaces the text of a script: one with a bug. @default as it is */
  readonly scriptText?: (text: string) => string;
  /** Called with each request, and with its reply as the wire has it. @default nothing */
  readonly observe?: (request: readonly string[], reply: string) => void;
}

/**
 * A simulated Redis as the store of a world: the replicas use the real ioredis, BullMQ and scripts, each on the time of its
 * own process. While it is open, the time of this process is the kernel's.
 */
export class RedisStore implements WorldStore {
  /** ioredis destroys a connection two seconds after it began to close it. */
  readonly lingersMs = 2500;
  private readonly server: SimulatedRedis;
  private readonly links: RedisLinks;
  private readonly giveBack: () => void;
  private isFull = 0;
  /** It is down since a fault; the data that it starts with. */
  private isDown = false;
  private startsWith: RedisSnapshot | 'all' = 'all';

  constructor(
    readonly process: SimulatedProcess,
    private readonly network: Network,
    { observe = () => undefined, scriptText }: RedisStoreOptions = {},
  ) {
    const { kernel } = process;
    const globals = new ProcessGlobals(kernel);
    this.links = new RedisLinks({
      ...{ server: process, network, current: () => globals.current },
      connectionOf: (id) => this.server.clients.find(({ connection }) => connection.id === id)?.connection,
    });
    this.server = new SimulatedRedis({
      ...{ clock: process.clock, clientClock: globals.clock, name: 'world', network: this.links, scriptText },
      observe: (connection, request, reply) => {
        this.note(connection, request, reply);
        observe(request, reply);
      },
    });
    this.giveBack = globals.take();
  }

  get redis(): ReachableRedis {
    return this.server;
  }

  get full(): number {
    return this.isFull;
  }

  set full(chance: number) {
    this.isFull = chance;
    this.server.faults.full = chance > 0;
  }

  get queues(): readonly StoredQueue[] {
    return this.queueNames().map((base) => storedQueueOf(this.server, base));
  }

  coordinationOf(
    _process: SimulatedProcess,
    { actors }: CoordinationViews = {},
  ): CreateManagerOptions['coordination'] {
    const factory = redisCoordination(this.server.url);
    return (parts) => factory({ ...parts, ...(actors && { actorsView: actors }) });
  }

  /** Half of the time the server is restarted without its data; otherwise an administrator removes them. */
  loseQueues(): void {
    const { random } = this.process;
    if (random.next() < 0.5) return this.remove(LOST);
    this.restart(DOWN_MS * random.next(), { databases: new Map() });
  }

  loseQueue(which: number): string | undefined {
    const names = this.queueNames();
    const base = names[Math.floor(which * names.length)];
    if (base === undefined) return undefined;
    for (const key of this.keys()) if (key.startsWith(base)) this.server.ask('DEL', key);
    return storedQueueOf(this.server, base).queue.name;
  }

  remember(): () => void {
    const before = this.server.snapshot();
    return () => this.restart(DOWN_MS * this.process.random.next(), before);
  }

  disturb(fault: StoreFaultKind, [which, how, , long]: Dice): number {
    if (fault === 'the store loses its last writes') {
      const before = this.server.snapshot();
      this.process.kernel.after(LOST_WRITES_MS * long, () => this.restart(DOWN_MS * how, before));
      return LOST_WRITES_MS * long;
    }
    if (fault === 'the store loses its scripts') this.server.forgetScripts();
    else if (fault === 'the store is restarted') this.restart(DOWN_MS * long, 'all');
    else {
      const { clients } = this.server;
      const chosen = clients.filter((_, index) => (index * 0.618 + which) % 1 < 0.05 + long * 0.5);
      for (const { connection } of chosen) this.links.silence(connection.id, how < 0.5 ? 'request' : 'reply');
    }
    return 0;
  }

  heal(): void {
    this.full = 0;
    this.start();
    this.links.heal();
  }

  /** The fields of the table of slots, which has only one number of them; none if there is no table. */
  get slotTable(): ReadonlyMap<string, string> {
    const key = this.keys().find((name) => SLOT_TABLE.test(name));
    const fields = key === undefined ? undefined : this.server.ask('HGETALL', key);
    const flat = fields instanceof MapReply ? (fields.flat as readonly string[]) : [];
    return new Map(Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at]!, flat[2 * at + 1]!]));
  }

  unanswered(): (readonly [ActorId, number])[] {
    return this.actors()
      .map(([id, key]) => {
        const fields = this.server.ask('HKEYS', key) as readonly string[];
        return [id, fields.filter((field) => field.startsWith('unanswered:')).length] as const;
      })
      .filter(([, count]) => count > 0);
  }

  hasIntents(wanted: ActorId): boolean {
    const [, found] =
      this.actors().find(([{ controller, key }]) => controller === wanted.controller && key === wanted.key) ??
      [];
    return found !== undefined && this.server.ask('HEXISTS', found, 'intents') === 1;
  }

  close(): void {
    this.server.close();
    this.giveBack();
  }

  private restart(downMs: number, data: RedisSnapshot | 'all'): void {
    if (this.isDown) return;
    this.isDown = true;
    this.startsWith = data;
    this.process.kernel.note(this.process.name, this.process.name, 'redis stops');
    this.server.stop();
    this.process.kernel.after(downMs, () => this.start());
  }

  private start(): void {
    if (!this.isDown) return;
    this.isDown = false;
    this.process.kernel.note(this.process.name, this.process.name, 'redis starts');
    const { startsWith } = this;
    this.server.start(startsWith === 'all' ? 'all' : this.withoutLost(startsWith));
  }

  /** The queues and the lease of then, and all else as it is now. */
  private withoutLost(before: RedisSnapshot): RedisSnapshot {
    const [now, then] = [this.server.snapshot(), before].map(
      ({ databases }) => databases.get(0) ?? new Map(),
    );
    const kept = [
      ...[...now!].filter(([key]) => !LOST.test(key as string)),
      ...[...then!].filter(([key]) => LOST.test(key as string)),
    ] as [string, never][];
    return { databases: new Map([[0, new Map(kept)]]) };
  }

  private remove(which: RegExp): void {
    for (const key of this.keys()) if (which.test(key)) this.server.ask('DEL', key);
  }

  private keys(): readonly string[] {
    return this.server.ask('KEYS', '*') as readonly string[];
  }

  private queueNames(): string[] {
    return [...new Set(this.keys().flatMap((key) => QUEUE.exec(key)?.[0] ?? []))].sort();
  }

  private actors(): (readonly [ActorId, key: string])[] {
    return this.keys().flatMap((name) => {
      const { controller, key } = ACTOR.exec(name)?.groups ?? {};
      return controller === undefined || key === undefined ? [] : [[{ controller, key }, name] as const];
    });
  }

  private note(connection: number, request: readonly string[], reply: string): void {
    if (reply.startsWith('-OOM')) this.network.count('write refused by a full store');
    const client = this.links.clientOf(connection)?.name ?? '';
    const [command = '', , , key = ''] = request;
    const text = /^eval/i.test(command) ? `${command} ${key}` : request.slice(0, 2).join(' ');
    this.process.kernel.note(client, this.process.name, `${text} #${digestOf([...request, reply])}`);
  }
}

/** The digest of all bytes of a request and its answer: two runs agree in it. */
function digestOf(texts: readonly string[]): string {
  let hash = 0x811c9dc5;
  for (const text of texts)
    for (let index = 0; index < text.length; index++)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16);
}

/** A queue as its keys in a simulated Redis show it. @param base its prefix, for example `{rollkeeper:queue:deployment}` */
function storedQueueOf(server: SimulatedRedis, base: string): StoredQueue {
  const name = /:queue:([^{}:]+)\}$/.exec(base)?.[1] ?? base;
  const bull = `${base}:${name}:`;
  const state = `${base}:state:`;
  const count = (...request: string[]): number => Number(server.ask(...request));
  return {
    queue: {
      name,
      counts: async () => ({
        waiting: count('LLEN', `${bull}wait`) + count('ZCARD', `${bull}prioritized`),
        active: count('LLEN', `${bull}active`),
        delayed: count('ZCARD', `${state}timers`),
        parked: count('HLEN', `${state}parked`),
      }),
      inspect: async (limit) => {
        const timers = server.ask('ZRANGE', `${state}timers`, '0', String(limit - 1), 'WITHSCORES');
        return { delayed: timers instanceof PairsReply ? timers.pairs.map(delayedKeyOf) : [] };
      },
    },
    hasTerm: count('EXISTS', `${state}term`) === 1,
  };
}

function delayedKeyOf([key, due]: readonly [Reply, Reply]): DelayedKey {
  if (typeof key !== 'string') throw new TypeError('The members of a sorted set are texts.');
  return { key, dueMs: due instanceof DoubleReply ? due.value : Number(due), failures: 0 };
}
