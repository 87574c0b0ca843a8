import { SupersededError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { NO_REPLICA, assertCount, otherCount } from '@rollkeeper/runtime/slots';
import type { AssignedSlot, SlotAssigner, SlotChange, SlotTable } from '@rollkeeper/runtime/slots';
import type { LeaderTerm } from '@rollkeeper/runtime/work-queue';
import type { RedisConnection } from '../connection/index.js';
import { LuaScript, assertRedisUrl, createRedisConnection } from '../connection/index.js';

const beginScript = new LuaScript<string[]>(new URL('./lua/begin-slots-1.lua', import.meta.url));
const assignScript = new LuaScript<string[]>(new URL('./lua/assign-slots-1.lua', import.meta.url));

/** The options of {@link RedisSlotTable}. */
export interface RedisSlotTableOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Prefix of every key. @default 'rollkeeper:' */
  readonly keyPrefix?: string;
  /** A command without an answer after this time has failed, milliseconds. @default 1000 */
  readonly commandTimeoutMs?: number;
  readonly logger?: Logger;
}

/** The {@link SlotTable} in one hash in Redis. Connects on first use. */
export class RedisSlotTable implements SlotTable {
  private readonly key: string;
  private readonly wakes = new Set<() => void>();
  private connection: RedisConnection | undefined;
  private subscriber: RedisConnection | undefined;

  constructor(private readonly options: RedisSlotTableOptions) {
    assertRedisUrl(options.url);
    this.key = `${options.keyPrefix ?? 'rollkeeper:'}slots`;
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

  close(): void {
    this.wakes.clear();
    this.connection?.disconnect();
    this.subscriber?.disconnect();
  }

  private async assign(term: LeaderTerm, changes: readonly SlotChange[]): Promise<readonly AssignedSlot[]> {
    const wire = changes.map(({ epochAbove = -1, owner, slot, standby }) => [
      slot,
      owner,
      standby,
      epochAbove,
    ]);
    const args = [term.epoch, term.holder, this.channel, JSON.stringify(wire)];
    const slots = await assignScript.run(this.commands, [this.key], args).catch(explain);
    return slots.map(parseSlot);
  }

  private get channel(): string {
    return `${this.key}:changed`;
  }

  private get commands(): RedisConnection {
    const { commandTimeoutMs = 1000, logger, url } = this.options;
    this.connection ??= createRedisConnection({ url, logger, commandTimeoutMs, connectionName: 'slots' });
    return this.connection;
  }

  /** A message is lost that is published while the connection is broken, so those who wait are woken after each reconnection. */
  private listen(): void {
    if (this.subscriber) return;
    const { logger, url } = this.options;
    this.subscriber = createRedisConnection({
      url,
      logger,
      connectionName: 'slots-listener',
      mode: 'blocking',
    });
    const wakeAll = (): void => {
      for (const wake of [...this.wakes]) wake();
    };
    this.subscriber.on('message', wakeAll);
    this.subscriber.on('ready', wakeAll);
    // Rejects only if we close the connection; the client subscribes again after each reconnection.
    this.subscriber.subscribe(this.channel).catch(() => undefined);
  }
}

const EMPTY = `[0,"${NO_REPLICA}","${NO_REPLICA}"]`;

function parseSlot(stored: string): AssignedSlot {
  const [epoch, owner, standby] = JSON.parse(stored) as [epoch: number, owner: string, standby: string];
  return { epoch, owner, standby };
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
