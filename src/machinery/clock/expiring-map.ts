interface Entry<V> {
  readonly value: V;
  /** By the monotonic clock. */
  readonly expiresAtMs: number;
}

/**
 * A map whose entries expire, so that its size depends on recent use alone and not on how many keys ever existed. It
 * needs no timer: calls remove what has expired, all of it at most once per `sweepEveryMs`, which costs a call a
 * constant amount on average.
 */
export class ExpiringMap<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private sweepAtMs = -Infinity;

  /** @param nowMs by the monotonic clock */
  constructor(
    private readonly nowMs: () => number,
    private readonly sweepEveryMs: number,
  ) {}

  /** How many entries are stored; some may have expired since the last sweep. */
  get size(): number {
    return this.entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAtMs > this.nowMs()) return entry?.value;
    this.entries.delete(key);
    return undefined;
  }

  /** Until the entry expires, milliseconds; 0: there is none. */
  leftMsOf(key: string): number {
    return Math.max((this.entries.get(key)?.expiresAtMs ?? -Infinity) - this.nowMs(), 0);
  }

  /** @param ttlMs from now, milliseconds; Infinity: until it is deleted or set again */
  set(key: string, value: V, ttlMs: number): void {
    this.sweep();
    this.entries.set(key, { value, expiresAtMs: this.nowMs() + ttlMs });
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  /** The entries that have not expired. */
  all(): (readonly [key: string, value: V])[] {
    this.sweep(0);
    return [...this.entries].map(([key, { value }]) => [key, value] as const);
  }

  private sweep(everyMs = this.sweepEveryMs): void {
    const nowMs = this.nowMs();
    if (nowMs < this.sweepAtMs && everyMs > 0) return;
    for (const [key, { expiresAtMs }] of this.entries) if (expiresAtMs <= nowMs) this.entries.delete(key);
    this.sweepAtMs = nowMs + this.sweepEveryMs;
  }
}
