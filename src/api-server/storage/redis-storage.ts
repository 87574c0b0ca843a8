import { IllegalStateError, InvalidOptionError, RollkeeperError, errorMessage } from '../../errors/index.js';
import type { KubernetesObject } from '../../kubernetes/index.js';
import type { RedisConnection } from '../../redis/index.js';
import { LuaScript, createRedisConnection } from '../../redis/index.js';
import {
  StorageConflictError,
  StorageExistsError,
  StorageExpiredError,
  StorageNotFoundError,
  StorageUnavailableError,
} from './errors.js';
import { followLog } from './follow-log.js';
import { NewestTexts } from './newest-texts.js';
import type { StoredText } from './object-text.js';
import { encodeObject, fieldOf, toStoredObject, toWrittenObject } from './object-text.js';
import { RedisKeys, parseStored, streamId, unexpectedReply } from './redis-layout.js';
import { RedisLister } from './redis-lister.js';
import { RedisLogCompactor } from './redis-log-compactor.js';
import { RedisLogReader } from './redis-log-reader.js';
import { RedisLog } from './redis-log.js';
import type { CompiledRedisStorageOptions, RedisStorageOptions } from './redis-storage.options.js';
import { compileRedisStorageOptions } from './redis-storage.options.js';
import type {
  Revision,
  Storage,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageListOptions,
  StorageWatchOptions,
  StoredObject,
} from './storage.js';

const createScript = new LuaScript(new URL('./lua/create-4.lua', import.meta.url));
const updateScript = new LuaScript(new URL('./lua/update-3.lua', import.meta.url));
const deleteScript = new LuaScript(new URL('./lua/delete-4.lua', import.meta.url));

/**
 * The store on Redis. Nothing lives in the process alone: several processes may serve one store, and a restart loses
 * nothing. What a process remembers (`recall`) is a hint that the scripts' comparison of revisions judges.
 *
 * Layout: per resource a hash of `revision json` by `namespace\0name` and a sorted set of the same fields, which
 * gives lists their order and lets them cost what they return; one hash with the revision; one stream with an entry
 * for each write, the watch log, whose ids are the revisions. One connection for commands, pipelined, and one that
 * waits for the log.
 *
 * Reads and writes work before `run`; watches wait for it.
 */
export class RedisStorage implements Storage {
  private readonly options: CompiledRedisStorageOptions;
  private readonly redis: RedisConnection;
  private readonly blocking: RedisConnection;
  private readonly keys: RedisKeys;
  private readonly log: RedisLog;
  private readonly reader: RedisLogReader;
  private readonly lister: RedisLister;
  private readonly newest: NewestTexts;
  private state: 'new' | 'running' | 'stopped' = 'new';
  private writes = 0;

  /** @throws InvalidOptionError */
  constructor(options: RedisStorageOptions) {
    this.options = compileRedisStorageOptions(options);
    const { url, logger, commandTimeoutMs } = this.options;
    this.redis = createRedisConnection({
      url,
      logger,
      commandTimeoutMs,
      connectionName: 'storage',
      // A write whose answer got lost may have happened: sent again, its own author would be told "exists".
      resendUnanswered: false,
    });
    this.blocking = createRedisConnection({ url, logger, connectionName: 'storage-watch', mode: 'blocking' });
    this.keys = new RedisKeys(this.options.keyPrefix);
    this.log = new RedisLog(this.redis, this.keys);
    const { maxKnownObjects: maxEntries, maxKnownTextLength: maxTextLength } = this.options;
    this.newest = new NewestTexts({ maxEntries, maxTextLength });
    this.forgetWhenBroken();
    this.reader = new RedisLogReader(this.blocking, this.keys, this.options, this.newest);
    this.lister = new RedisLister(this.redis, this.keys, this.log, () => this.reader.present);
  }

  async create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>> {
    const { objects, index } = this.keys.of(key.resource);
    const text = encodeObject(object);
    const [outcome, detail] = await this.write(createScript, [objects, index], key, [
      text,
      ...this.logArgs(),
    ]);
    if (outcome === 'exists') throw new StorageExistsError(key);
    return this.written(key, object, { revision: Number(detail), text });
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    const value = await this.ask(() => this.redis.hget(this.keys.of(key.resource).objects, fieldOf(key)));
    if (value !== null) return this.learned(key, parseStored(value));
    this.newest.forget(key);
    return undefined;
  }

  recall(key: StorageKey): StoredObject | undefined {
    const known = this.newest.recall(key);
    return known && toStoredObject(known);
  }

  async update<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    expectedRevision: Revision,
  ): Promise<StoredObject<T>> {
    const { objects } = this.keys.of(key.resource);
    const text = encodeObject(object);
    const args = [text, ...this.logArgs(), expectedRevision];
    const [outcome, detail] = await this.write(updateScript, [objects], key, args);
    this.assertWritten(outcome, detail, key, expectedRevision);
    return this.written(key, object, { revision: Number(detail), text });
  }

  async delete(key: StorageKey, expectedRevision: Revision): Promise<StoredObject> {
    const { objects, index } = this.keys.of(key.resource);
    const args = [...this.logArgs(), expectedRevision];
    const [outcome, detail, removed] = await this.write(deleteScript, [objects, index], key, args);
    this.assertWritten(outcome, detail, key, expectedRevision);
    this.newest.forget(key, Number(detail));
    return toStoredObject({ ...parseStored(String(removed)), revision: Number(detail) });
  }

  list(resource: string, options: StorageListOptions = {}): Promise<StorageList> {
    return this.ask(() => this.lister.list(resource, options));
  }

  async *watch(
    options: StorageWatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly StorageEvent[], void, undefined> {
    const ring = await this.reader.ring(signal);
    if (!ring) return;
    if (options.after > ring.last) await this.assertReached(options.after);
    try {
      yield* followLog(this.log.follow(ring, options), options, this.options.clock, signal);
    } catch (error) {
      throw toStorageError(error);
    }
  }

  async currentRevision(): Promise<Revision> {
    return Number((await this.ask(() => this.redis.hget(this.keys.meta, 'rev'))) ?? 1);
  }

  async compact(revision: Revision): Promise<void> {
    const current = await this.currentRevision();
    if (revision > current)
      throw new InvalidOptionError('revision', `${revision} is not reached, we are at ${current}`);
    await this.ask(() => this.redis.xtrim(this.keys.log, 'MINID', streamId(revision + 1)));
    this.reader.present?.forget(revision);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.state !== 'new') throw new IllegalStateError('the storage has been run already');
    this.state = 'running';
    const { clock, maxLogAgeMs, logger } = this.options;
    const compactor = new RedisLogCompactor(clock, maxLogAgeMs, this, (error) =>
      logger.warn('compacting the watch log failed', { error: errorMessage(error) }),
    );
    const disconnect = (): void => this.disconnect();
    signal.addEventListener('abort', disconnect, { once: true });
    try {
      await Promise.all([this.reader.run(signal), compactor.run(signal)]);
    } finally {
      this.disconnect();
    }
  }

  async ping(): Promise<void> {
    await this.ask(() => this.redis.ping());
  }

  private disconnect(): void {
    this.state = 'stopped';
    this.redis.disconnect();
    this.blocking.disconnect();
  }

  private logArgs(): (string | number)[] {
    return [`${this.options.processId}.${++this.writes}`, this.options.maxLogEntries];
  }

  private async write(
    script: LuaScript,
    resourceKeys: readonly string[],
    key: StorageKey,
    args: readonly (string | number)[],
  ): Promise<unknown[]> {
    const reply = await this.ask(() =>
      script.run(
        this.redis,
        [this.keys.meta, ...resourceKeys, this.keys.log],
        [fieldOf(key), key.resource, ...args],
      ),
    );
    if (!Array.isArray(reply)) throw unexpectedReply(reply);
    return reply as unknown[];
  }

  private assertWritten(outcome: unknown, detail: unknown, key: StorageKey, expected: Revision): void {
    if (outcome === 'missing') {
      this.newest.forget(key);
      throw new StorageNotFoundError(key);
    }
    if (outcome !== 'conflict') return;
    throw new StorageConflictError(key, expected, this.learned(key, parseStored(String(detail))));
  }

  private learned(key: StorageKey, stored: StoredText): StoredObject {
    this.newest.learn(key, stored);
    return toStoredObject(stored);
  }

  private written<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    stored: StoredText,
  ): StoredObject<T> {
    this.newest.learn(key, stored);
    return toWrittenObject(object, stored.revision);
  }

  /**
   * Whoever answers after a broken link may have another history, in which a revision stands for something else. The
   * reader of the log, which notices that for certain, does the same.
   */
  private forgetWhenBroken(): void {
    const forget = (): void => this.newest.clear();
    for (const link of [this.redis, this.blocking] as NodeJS.EventEmitter[]) {
      link.on('close', forget);
      // A Cluster as a whole stays open when one of its servers goes.
      link.on('-node', forget);
    }
  }

  /** Another process may be ahead of our reader; nobody is ahead of the store. */
  private async assertReached(revision: Revision): Promise<void> {
    const current = await this.currentRevision();
    if (revision > current) throw new StorageExpiredError(revision, `the store is only at ${current}`);
  }

  private async ask<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (error) {
      throw toStorageError(error);
    }
  }
}

/** Our own errors pass; everything else is a fault of the link. */
function toStorageError(error: unknown): Error {
  if (error instanceof RollkeeperError) return error;
  return new StorageUnavailableError(`Redis does not answer: ${errorMessage(error)}`, { cause: error });
}
