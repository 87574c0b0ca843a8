/** A burst of changes of one key that is delayed until it ends. Times are monotonic milliseconds. */
export interface Burst {
  /** When the burst began. */
  readonly firstMs: number;
  /** Quiet time after which the burst has ended. */
  readonly delayMs: number;
  /** When to add the key. */
  readonly dueMs: number;
}

/** A burst that does not end is cut after this many times its quiet time. */
const LONGEST_BURST = 5;

/**
 * Merges another change into a burst. Changes of the same urgency postpone the add until they pause, at most for
 * {@link LONGEST_BURST} quiet times; a more urgent one brings it forward; a less urgent one changes nothing.
 */
export function decideBurst(held: Burst | undefined, delayMs: number, nowMs: number): Burst {
  const quietMs = nowMs + delayMs;
  if (!held || delayMs < held.delayMs) {
    const dueMs = held ? Math.min(held.dueMs, quietMs) : quietMs;
    return { firstMs: nowMs, delayMs, dueMs };
  }
  if (delayMs > held.delayMs) return held;
  return { ...held, dueMs: Math.min(quietMs, held.firstMs + LONGEST_BURST * delayMs) };
}
