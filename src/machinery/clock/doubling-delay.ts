export interface DoublingDelay {
  /** After the first failure, milliseconds. */
  readonly firstMs: number;
  /** The limit, milliseconds. */
  readonly longestMs: number;
}

/** With more doublings a number could no longer hold the product. */
const MOST_DOUBLINGS = 60;

/**
 * How long to wait after a failure: twice as long after each, up to a limit. It has no random part; where many clients wait at the same
 * time, add one.
 * @param failures in a row, before this one
 */
export function doublingDelayMs(failures: number, { firstMs, longestMs }: DoublingDelay): number {
  return Math.min(firstMs * 2 ** Math.min(failures, MOST_DOUBLINGS), longestMs);
}
