/** A burst of changes of one key that is being held back until it is over. Times are monotonic milliseconds. */
export interface Burst {
  /** When the burst began. */
  readonly firstMs: number;
  /** How long it must be quiet for the burst to be over. */
  readonly delayMs: number;
  /** When the key is to be added. */
  readonly dueMs: number;
}

/** A burst that does not end is cut after so many times its quiet time. */
const LONGEST_BURST = 5;

/**
 * What another change makes of a burst. Changes of one kind put the add off until they pause, for so long at the most
 * as {@link LONGEST_BURST} tells; a more urgent one brings it forward; a less urgent one changes nothing.
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
