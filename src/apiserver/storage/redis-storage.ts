import {
  IllegalStateError,
  InvalidOptionError,
  RollkeeperError,
  errorMessage,
} from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript, createRedisConnection } from '@rollkeeper/redis/connection';
import {
  StorageConflictError,
  StorageExistsError,
  StorageExpiredError,
  StorageNotFoundError,
  StorageRefusesError,
  StorageUnavailableError,
  isRefusal,
} from './errors.js';
import { followLog } from './follow-log.js';
import { NewestTexts } from './newest-texts.js';
import type { StoredText } from './object-text.js';
import { encodeObject, fieldOf, toStoredObject, toWrittenObject } from './object-text.js';
import { RedisKeys, parseStored, streamId } from './redis-layout.js';
import { RedisLister } from './redis-lister.js';
import { LogCompactor } from './log-compactor.js';
import { RedisLogReader } from './redis-log-reader.js';
import { RedisLog } from './redis-log.js';
import { RedisOpener } from './redis-opener.js';
import { RedisReplacer } from './redis-replacer.js';
import { RedisSecret } from './redis-secret.js';
import type { CompiledRedisStorageOptions, RedisStorageOptions } from './redis-storage.options.js';
import { compileRedisStorageOptions } from './redis-storage.options.js';
import type { Write } from './redis-writer.js';
import { RedisWriter } from './redis-writer.js';
import type {
  Revision,
  Storage,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageListOptions,
  StorageRecord,
  StorageWatchOptions,
  StoredObject,
} from './storage.js';

const writableScript = new LuaScript(new URL('./lua/writable-1.lua', import.meta.url));
const resourcesScript = new LuaScript(new URL('./lua/resources-1.lua', import.meta.url));

/**
 * The store on Redis. No state lives only in the process: several processes may serve one store, and a restart loses
 * nothing. What a process remembers (`recall`) is a hint that the scripts' comparison of revisions verifies.
 *
 * A revision is never handed out twice, even if Redis loses writes: see {@link RedisOpener}.
 *
 * Layout: per resource a hash of `revision json` by `namespace\0name` and a sorted set of the same fields, which gives
 * lists their order and lets them cost what they return; one hash with the revision; one stream with an entry for each
 * write, the watch log, whose ids are the revisions. One connection for commands, pipelined, and one that waits for the
 * log.
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
  private readonly opener: RedisOpener;
  private readonly writer: RedisWriter;
  private readonly storeSecret: RedisSecret;
  private state: 'new' | 'running' | 'stopped' = 'new';

  /** @throws InvalidOptionError */
  constructor(options: RedisStorageOptions) {
    this.options = compileRedisStorageOptions(options);
    const { url, logger, commandTimeoutMs } = this.options;
    this.redis = createRedisConnection({
      url,
      logger,
      commandTimeoutMs,
      connectionName: 'storage',
      // A write whose answer got lost may have happened: if it was sent again, its author would get "exists".
      resendUnanswered: false,
    });
    this.blocking = createRedisConnection({ url, logger, connectionName: 'storage-watch', mode: 'blocking' });
    this.keys = new RedisKeys(this.options.keyPrefix);
    this.log = new RedisLog(this.redis, this.keys);
    const { maxKnownObjects: maxEntries, maxKnownTextLength: maxTextLength } = this.options;
    this.newest = new NewestTexts({ maxEntries, maxTextLength });
    this.opener = new RedisOpener(this.redis, this.keys, this.options);
    this.storeSecret = new RedisSecret(this.redis, this.keys);
    this.forgetWhenBroken();
    this.reader = new RedisLogReader(this.blocking, this.keys, this.options, this.newest, this.opener);
    this.lister = new RedisLister(this.redis, this.keys, this.log, () => this.reader.present, this.opener);
    this.writer = new RedisWriter(this.redis, this.keys, this.options, this.opener, this.newest, (entries) =>
      this.reader.tell(entries),
    );
  }

  async create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>> {
    const written = await this.write({ type: 'created', key, expected: 0, text: encodeObject(object) });
    return toWrittenObject(object, written);
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    const value = await this.ask(async () => {
      if (!this.opener.isReady) await this.opener.ready();
      return this.redis.hget(this.keys.of(key.resource).objects, fieldOf(key));
    });
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
    expected: Revision,
  ): Promise<StoredObject<T>> {
    const written = await this.write({ type: 'updated', key, expected, text: encodeObject(object) });
    return toWrittenObject(object, written);
  }

  async delete(key: StorageKey, expected: Revision): Promise<StoredObject> {
    return toStoredObject(await this.write({ type: 'deleted', key, expected, text: '' }));
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
    return this.ask(async () => {
      await this.opener.ready();
      return Number((await this.redis.hget(this.keys.meta, 'rev')) ?? (await this.opener.open()));
    });
  }

  resources(): Promise<{ resources: readonly string[]; revision: Revision }> {
    return this.ask(async () => {
      await this.opener.ready();
      const reply = await resourcesScript.run(this.redis, [this.keys.meta], [this.keys.of('').objects]);
      const [revision, ...resources] = reply as [number, ...string[]];
      return { resources, revision: revision || (await this.opener.open()) };
    });
  }

  async replaceAll(records: AsyncIterable<StorageRecord>): Promise<Revision> {
    const replacer = new RedisReplacer(this.redis, this.keys, this.opener, this.options.processId);
    const revision = await this.ask(() => replacer.replaceAll(records));
    this.newest.clear();
    return revision;
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
    const compactor = new LogCompactor(clock, maxLogAgeMs, this, (error) =>
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

  async secret(): Promise<Buffer> {
    return this.ask(() => this.storeSecret.get());
  }

  async ping(): Promise<void> {
    // Not PING, which Redis refuses while it cannot write to its disk, although it still serves reads.
    await this.ask(() => this.redis.exists(this.keys.meta));
  }

  async assertWritable(): Promise<void> {
    await this.ask(() => writableScript.run(this.redis, [this.keys.meta]));
  }

  private disconnect(): void {
    this.state = 'stopped';
    this.redis.disconnect();
    this.blocking.disconnect();
  }

  private async write(write: Write): Promise<StoredText> {
    const { key } = write;
    const result = await this.ask(() => this.writer.write(write));
    switch (result.outcome) {
      case 'written':
        return result;
      case 'exists':
        throw new StorageExistsError(key);
      case 'missing':
        this.newest.forget(key);
        throw new StorageNotFoundError(key);
      case 'conflict':
        throw new StorageConflictError(key, write.expected, this.learned(key, result.current));
    }
  }

  private learned(key: StorageKey, stored: StoredText): StoredObject {
    this.newest.learn(key, stored);
    return toStoredObject(stored);
  }

  /**
   * The server after a broken connection may have another history, in which revisions have other meanings. The log
   * reader, which notices that for certain, does the same.
   */
  private forgetWhenBroken(): void {
    const forget = (): void => {
      this.newest.clear();
      this.opener.forget();
      this.storeSecret.forget();
    };
    const links: readonly NodeJS.EventEmitter[] = [this.redis, this.blocking];
    for (const link of links) {
      link.on('close', forget);
      // A Cluster as a whole stays open when one of its servers goes.
      link.on('-node', forget);
    }
  }

  /** Another process may be ahead of our reader, but not ahead of the store. */
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
  if (isRefusal(error))
    return new StorageRefusesError(`Redis refuses: ${errorMessage(error)}`, { cause: error });
  return new StorageUnavailableError(`Redis does not answer: ${errorMessage(error)}`, { cause: error });
}
