import { pause } from '@rollkeeper/machinery/clock';
import { abortable } from '@rollkeeper/machinery/cancellation';
import { ShutdownError, TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript } from '@rollkeeper/redis/connection';
import { BatchSize } from './batch-size.js';
import { StorageExpiredError } from './errors.js';
import type { LogEntry } from './log-entry.js';
import type { RedisKeys } from './redis-layout.js';
import { LogLength } from './log-length.js';
import { parseLogEntry, streamId } from './redis-layout.js';
import type { RedisOpener } from './redis-opener.js';
import type { NewestTexts } from './newest-texts.js';
import type { CompiledRedisStorageOptions } from './redis-storage.options.js';
import type { Revision } from './storage.js';
import { WatchRing } from './watch-ring.js';

const followScript = new LuaScript(new URL('./lua/follow-2.lua', import.meta.url));

/** How long one `XREAD` waits. Also how often an idle reader makes sure that its history still exists. */
const BLOCK_MS = 1000;
/** A link that has died without a word: its answer to `XREAD` is so late that it will never come. */
const DEAD_AFTER_MS = 5000;
const BATCH = 500;
/** Characters. */
const BATCH_LENGTH = 8 * 1024 * 1024;
const RETRY_MS = 100;

/**
 * The only reader of the watch log in a process: keeps the ring of all its watchers up to date.
 *
 * Every entry names the write before it, so the reader continues after a reconnect, or after a fault of Redis, if the next
 * entry is the successor of the last one that it saw. If it is not - data lost, put back, or trimmed while the reader was
 * disconnected - the ring fails, its watchers end as expired, and a new ring begins at the store's present.
 */
export class RedisLogReader {
  private current: WatchRing | undefined;
  private readonly waitingForRing = new Set<(ring: WatchRing) => void>();
  /** Set when there was silence or a fault: the store may have another history, and none of it to show. */
  private mustVerify = true;
  private readonly size = new BatchSize(BATCH, BATCH_LENGTH);
  private readonly logLength: LogLength;
  /** True if only this process has written since the last step, so that the log has nothing that the ring lacks. */
  private isToldAll = false;
  /** Up to where the log has to be forgotten, at the next step. */
  private trimUpTo: Revision | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly options: CompiledRedisStorageOptions,
    private readonly newest: NewestTexts,
    private readonly opener: RedisOpener,
  ) {
    const { maxLogEntries: maxEntries, maxLogTextLength: maxLength } = options;
    this.logLength = new LogLength({ maxEntries, maxLength });
  }

  /** The present ring, once there is one. Resolves with `undefined` when `signal` aborts. */
  ring(signal: AbortSignal): Promise<WatchRing | undefined> {
    if (this.current || signal.aborted) return Promise.resolve(this.current);
    return new Promise((resolve) => {
      const settle = (ring?: WatchRing): void => {
        this.waitingForRing.delete(settle);
        signal.removeEventListener('abort', onAbort);
        resolve(ring);
      };
      const onAbort = (): void => settle();
      this.waitingForRing.add(settle);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** The present ring, if the log is followed already. */
  get present(): WatchRing | undefined {
    return this.current;
  }

  /**
   * Adds this process's own writes without reading the log, unless another process wrote before them. The log may
   * already have delivered them.
   */
  tell(entries: readonly LogEntry[]): void {
    const ring = this.current;
    this.isToldAll = false;
    if (!ring || ring.failure) return;
    if (entries[0] && ring.isNext(entries[0])) this.append(ring, entries);
    this.isToldAll = ring.lastWriteId === entries.at(-1)?.writeId;
  }

  /** Follows until `signal` aborts. Faults of Redis are waited out. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) await this.stepOrWait(signal);
    } finally {
      this.current?.fail(new ShutdownError('the storage has stopped'));
    }
  }

  private async stepOrWait(signal: AbortSignal): Promise<void> {
    try {
      await this.step(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.mustVerify = true;
      this.newest.clear();
      this.options.logger.warn('following the watch log failed, trying again', {
        error: errorMessage(error),
      });
      await pause(this.options.clock, RETRY_MS, signal);
    }
  }

  private async step(signal: AbortSignal): Promise<void> {
    if (this.mustVerify || !this.current) await this.verify(signal);
    const ring = this.current;
    if (!ring) return;
    if (this.isToldAll && this.options.watchBatchMs > 0) {
      // Reading back its own writes is what a busy process would do most of the time.
      this.isToldAll = false;
      await this.shorten(signal);
      return this.collect(signal);
    }
    const asked = this.size.count;
    const position = { revision: ring.last, writeId: ring.lastWriteId };
    const entries = await this.read(ring, asked, signal);
    const first = entries[0];
    if (!first) {
      this.mustVerify = true;
      return;
    }
    // Some of them may have been added in the meantime.
    const news = entries.filter(({ revision }) => revision > ring.last);
    const follows =
      first.previousRevision === position.revision && first.previousWriteId === position.writeId;
    if (!follows || (news[0] && !ring.isNext(news[0]))) {
      this.startOver(
        `the watch log goes on at ${first.revision}, and not from the ${ring.last} that we know`,
      );
      return;
    }
    this.append(ring, news);
    this.remember(news);
    this.size.learn(entries);
    await this.shorten(signal);
    if (entries.length < asked) await this.collect(signal);
  }

  private append(ring: WatchRing, entries: readonly LogEntry[]): void {
    if (entries.length === 0) return;
    ring.append(entries);
    this.trimUpTo = this.logLength.add(entries) ?? this.trimUpTo;
  }

  private remember(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (entry.type === 'opened') continue;
      const { key, revision, text } = entry;
      if (entry.type === 'deleted') this.newest.forget(key, revision);
      else this.newest.learn(key, { revision, text });
    }
  }

  /** Lets more writes come before the next look, see `watchBatchMs`. */
  private async collect(signal: AbortSignal): Promise<void> {
    const { clock, watchBatchMs } = this.options;
    if (watchBatchMs > 0) await pause(clock, watchBatchMs, signal);
  }

  /** The entries of many large writes must not fill the store. */
  private async shorten(signal: AbortSignal): Promise<void> {
    const upTo = this.trimUpTo;
    if (upTo === undefined) return;
    this.trimUpTo = undefined;
    const trimmed = this.redis.xtrim(this.keys.log, 'MINID', streamId(upTo + 1));
    await this.orReconnect(abortable(trimmed, signal));
    this.current?.forget(upTo);
  }

  private async read(ring: WatchRing, count: number, signal: AbortSignal): Promise<LogEntry[]> {
    const wait = this.redis.xread(
      'COUNT',
      count,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      this.keys.log,
      streamId(ring.last),
    );
    const reply = await this.orReconnect(abortable(wait, signal));
    return (reply?.[0]?.[1] ?? []).map(parseLogEntry);
  }

  private async orReconnect<T>(answer: Promise<T>): Promise<T> {
    const dead = new AbortController();
    const timer = this.options.clock.setTimeout(() => {
      dead.abort(new TimeoutError(`no answer to XREAD within ${DEAD_AFTER_MS} ms`));
      this.redis.disconnect(true);
    }, DEAD_AFTER_MS);
    return abortable(answer, dead.signal).finally(() => timer.cancel());
  }

  private async verify(signal: AbortSignal): Promise<void> {
    const ring = this.current;
    this.mustVerify = false;
    await abortable(this.opener.ready(), signal);
    const [known, revision, writeId] = await this.askWhetherKnown(ring, signal);
    if (ring && known === 1) return;
    if (revision === 0) await abortable(this.opener.open(), signal);
    if (ring) {
      this.startOver(`the store is at ${revision} and does not know the write of ${ring.last}`);
      return;
    }
    if (revision === 0) this.mustVerify = true;
    else this.begin({ revision, writeId });
  }

  private async askWhetherKnown(
    ring: WatchRing | undefined,
    signal: AbortSignal,
  ): Promise<readonly [known: number, revision: Revision, writeId: string]> {
    const answer = followScript.run(
      this.redis,
      [this.keys.meta, this.keys.log],
      [ring?.last ?? 0, ring?.lastWriteId ?? ''],
    );
    const [known, revision, writeId] = (await abortable(answer, signal)) as [number, string, string];
    return [known, Number(revision), writeId];
  }

  /** The next step looks where the store is now. */
  private startOver(reason: string): void {
    const ring = this.current;
    if (!ring) return;
    this.options.logger.warn('the watch log is broken, watchers must list again', { reason });
    this.current = undefined;
    this.newest.clear();
    this.logLength.clear();
    this.trimUpTo = undefined;
    ring.fail(new StorageExpiredError(ring.last, reason));
  }

  private begin(start: { revision: number; writeId: string }): void {
    const { clock, maxLogEntries, maxRingEntries, maxRingTextLength, watchBatchMs } = this.options;
    const limits = {
      maxEntries: Math.min(maxRingEntries, maxLogEntries),
      maxTextLength: maxRingTextLength,
      wakeEveryMs: watchBatchMs,
    };
    const ring = new WatchRing(start, limits, clock);
    this.current = ring;
    for (const settle of [...this.waitingForRing]) settle(ring);
  }
}
