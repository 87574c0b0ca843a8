import { SupersededError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { NO_REPLICA, assertCount, otherCount } from '@rollkeeper/runtime/slots';
import type {
  AssignedSlot,
  SlotAssigner,
  SlotChange,
  SlotReport,
  SlotTable,
} from '@rollkeeper/runtime/slots';
import type { LeaderTerm } from '@rollkeeper/runtime/work-queue';
import type { RedisConnection } from '../connection/index.js';
import { LuaScript, assertRedisUrl, createRedisConnection, hashTagOf } from '../connection/index.js';

const beginScript = new LuaScript<string[]>(new URL('./lua/begin-slots-1.lua', import.meta.url));
const reportScript = new LuaScript<number>(new URL('./lua/report-member-1.lua', import.meta.url));
const leaveScript = new LuaScript<number>(new URL('./lua/leave-slots-1.lua', import.meta.url));
const membersScript = new LuaScript<[timeMs: number, ...members: string[]]>(
  new URL('./lua/read-members-1.lua', import.meta.url),
);
const forgetScript = new LuaScript<number>(new URL('./lua/forget-member-1.lua', import.meta.url));
const assignScript = new LuaScript<string[]>(new URL('./lua/assign-slots-1.lua', import.meta.url));

/** The options of {@link RedisSlotTable}. */
export interface RedisSlotTableOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Prefix of every key. @default 'rollkeeper:' */
  readonly keyPrefix?: string;
  /** Name of the table: two of one installation have nothing to do with each other. @default 'slots' */
  readonly name?: string;
  /** A command without an answer after this time has failed, milliseconds. @default 1000 */
  readonly commandTimeoutMs?: number;
  readonly logger?: Logger;
}

/**
 * The {@link SlotTable} in one hash in Redis, and the replicas' reports in another. Connects on first use. A replica is visible by a
 * shard channel that it alone subscribes to, which in a Cluster is where the reports are: when its process dies, the kernel closes the connection.
 */
export class RedisSlotTable implements SlotTable {
  private readonly key: string;
  private readonly wakes = new Set<() => void>();
  private readonly memberWakes = new Set<() => void>();
  /** The last report of this process, by its replica: sent again where Redis has not seen our connection when it came. */
  private readonly reports = new Map<string, readonly number[]>();
  private connection: RedisConnection | undefined;
  private subscriber: RedisConnection | undefined;
  private visible: RedisConnection | undefined;

  constructor(private readonly options: RedisSlotTableOptions) {
    assertRedisUrl(options.url);
    this.key = `${options.keyPrefix ?? 'rollkeeper:'}${options.name ?? 'slots'}`;
  }

  async begin(term: LeaderTerm, count: number): Promise<SlotAssigner> {
    assertCount(count);
    const args = [term.epoch, term.holder, count];
    const slots = await beginScript.run(this.commands, [this.key], args).catch(explain);
    return { slots: slots.map(parseSlot), assign: (changes) => this.assign(term, changes) };
  }

  async read(): Promise<readonly AssignedSlot[]> {
    const fields = await this.commands.hgetall(this.key);
    const count = Number(fields['count'] ?? 0);
    return Array.from({ length: count }, (_, slot) => parseSlot(fields[slot] ?? EMPTY));
  }

  onChanged(wake: () => void): () => void {
    this.wakes.add(wake);
    this.listen();
    return () => this.wakes.delete(wake);
  }

  async report(replica: string, current: readonly number[]): Promise<void> {
    if (!this.reports.has(replica)) await this.links.ssubscribe(this.aliveChannel(replica));
    this.reports.set(replica, current);
    await this.send(replica, current);
  }

  async leave(replica: string): Promise<void> {
    this.reports.delete(replica);
    await leaveScript.run(this.commands, [this.membersKey], [replica, this.membersChannel]);
  }

  async members(): Promise<readonly SlotReport[]> {
    const [nowMs, ...flat] = await membersScript.run(
      this.commands,
      [this.membersKey],
      [this.aliveChannel('')],
    );
    return Array.from({ length: flat.length / 2 }, (_, at) =>
      parseReport(flat[at * 2] ?? '', flat[at * 2 + 1] ?? '', nowMs),
    );
  }

  async forget({ id, replica }: Pick<SlotReport, 'id' | 'replica'>): Promise<void> {
    await forgetScript.run(this.commands, [this.membersKey], [replica, id]);
  }

  onMembers(wake: () => void): () => void {
    this.memberWakes.add(wake);
    this.listen();
    return () => this.memberWakes.delete(wake);
  }

  close(): void {
    this.wakes.clear();
    this.memberWakes.clear();
    this.reports.clear();
    this.connection?.disconnect();
    this.subscriber?.disconnect();
    this.visible?.disconnect();
  }

  private async assign(term: LeaderTerm, changes: readonly SlotChange[]): Promise<readonly AssignedSlot[]> {
    const wire = changes.map(({ owner, slot, standby }) => [slot, owner, standby]);
    const args = [term.epoch, term.holder, this.channel, JSON.stringify(wire)];
    const slots = await assignScript.run(this.commands, [this.key], args).catch(explain);
    return slots.map(parseSlot);
  }

  private async send(replica: string, current: readonly number[]): Promise<void> {
    const args = [replica, current.join(), this.aliveChannel(replica), this.membersChannel];
    await reportScript.run(this.commands, [this.membersKey], args);
  }

  private get channel(): string {
    return `${this.key}:changed`;
  }

  /** On the server of the table, and of the channels by which replicas are visible. */
  private get membersKey(): string {
    return `{${hashTagOf(this.key)}}:members`;
  }

  private get membersChannel(): string {
    return `${this.membersKey}:changed`;
  }

  private aliveChannel(replica: string): string {
    return `${this.membersKey}:alive:${replica}`;
  }

  private get commands(): RedisConnection {
    const { commandTimeoutMs = 1000, logger, url } = this.options;
    this.connection ??= createRedisConnection({ url, logger, commandTimeoutMs, connectionName: 'slots' });
    return this.connection;
  }

  /** The connection by which replicas of this process are visible. */
  private get links(): RedisConnection {
    if (this.visible) return this.visible;
    const { logger, url } = this.options;
    const visible = createRedisConnection({
      ...{ url, logger, connectionName: 'slots-alive' },
      mode: 'blocking',
      shardChannels: true,
    });
    visible.on('ready', () => {
      // A server that was restarted or replaced has not seen this connection before. What fails is sent with the next report.
      for (const [replica, current] of this.reports) this.send(replica, current).catch(() => undefined);
    });
    this.visible = visible;
    return visible;
  }

  /** A message is lost that is published while the connection is broken, so those who wait are woken after each reconnection. */
  private listen(): void {
    if (this.subscriber) return;
    const { logger, url } = this.options;
    const subscriber = createRedisConnection({
      url,
      logger,
      connectionName: 'slots-listener',
      mode: 'blocking',
    });
    this.subscriber = subscriber;
    const wakeAll = (wakes: ReadonlySet<() => void>): void => {
      for (const wake of [...wakes]) wake();
    };
    subscriber.on('message', (channel: string) =>
      wakeAll(channel === this.membersChannel ? this.memberWakes : this.wakes),
    );
    subscriber.on('ready', () => {
      wakeAll(this.wakes);
      wakeAll(this.memberWakes);
    });
    // Rejects only if we close the connection; the client subscribes again after each reconnection.
    subscriber.subscribe(this.channel, this.membersChannel).catch(() => undefined);
  }
}

const EMPTY = `[0,"${NO_REPLICA}","${NO_REPLICA}"]`;

function parseSlot(stored: string): AssignedSlot {
  const [epoch, owner, standby] = JSON.parse(stored) as [epoch: number, owner: string, standby: string];
  return { epoch, owner, standby };
}

/** @param stored as report-member stores it; its time makes it another text each time */
function parseReport(replica: string, stored: string, nowMs: number): SlotReport {
  const [timeMs, , slots] = JSON.parse(stored) as [timeMs: number, seenAt: string, slots: string];
  return { replica, current: numbersIn(slots), id: stored, ageMs: nowMs - timeMs };
}

function explain(error: unknown): never {
  const text = error instanceof Error ? error.message : '';
  const [, name, number = '0'] = /(SUPERSEDED|OTHERCOUNT|NOSLOT) (\d+)/.exec(text) ?? [];
  if (name === 'OTHERCOUNT') throw otherCount(Number(number));
  if (name === 'NOSLOT') throw new RangeError(`there is no slot ${number}`);
  if (name !== 'SUPERSEDED') throw error;
  const what = number === '0' ? 'no term has begun' : `the term of epoch ${number} has begun`;
  throw new SupersededError(`refused: for the slots ${what}`, { epoch: Number(number) });
}

function numbersIn(text: string): readonly number[] {
  return text === '' ? [] : text.split(',').map(Number);
}
