import type { Clock } from '@rollkeeper/machinery/clock';

interface Entry<T> {
  readonly answer: Promise<T>;
  /** By the monotonic clock. */
  readonly expiresAtMs: number;
}

interface ExpiringCacheOptions {
  /** Lifetime of an answer, milliseconds, from the moment the request was sent. */
  readonly ttlMs: number;
  /** Maximum number of answers; the least recently requested is evicted. */
  readonly size: number;
}

/** A short-lived cache. Concurrent requests for the same key share one answer; failures are not cached. */
export class ExpiringCache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonicNow'>,
    private readonly options: ExpiringCacheOptions,
  ) {}

  /** The answer for `key`: the cached one, otherwise that of `ask`. */
  get(key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.clock.monotonicNow();
    const existing = this.entries.get(key);
    if (existing && now < existing.expiresAtMs) return existing.answer;
    const entry = { answer: ask(), expiresAtMs: now + this.options.ttlMs };
    this.entries.delete(key);
    this.entries.set(key, entry);
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.options.size && oldest !== undefined) this.entries.delete(oldest);
    entry.answer.catch(() => {
      if (this.entries.get(key) === entry) this.entries.delete(key);
    });
    return entry.answer;
  }
}
