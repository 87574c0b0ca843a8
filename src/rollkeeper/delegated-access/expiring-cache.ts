import type { Clock } from '@rollkeeper/machinery/clock';

interface Entry<T> {
  readonly answer: Promise<T>;
  /** By the monotonic clock. */
  readonly expiresAtMs: number;
}

export interface ExpiringCacheOptions {
  /** How long an answer counts, milliseconds, from the moment the question was asked. */
  readonly ttlMs: number;
  /** Answers kept at most; of more, the one asked for longest ago goes. */
  readonly size: number;
}

/** Answers for a short time. Who asks the same while an answer is under way gets that one; failures are not kept. */
export class ExpiringCache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonicNow'>,
    private readonly options: ExpiringCacheOptions,
  ) {}

  /** The answer to `key`: the one there is, else that of `ask`. */
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
