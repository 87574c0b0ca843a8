export interface DoublingDelay {
  /** Delay after the first failure, milliseconds. */
  readonly firstMs: number;
  /** Upper limit, milliseconds. */
  readonly longestMs: number;
}

/** More doublings would overflow a number. */
const MOST_DOUBLINGS = 60;

/**
 * The delay after a failure: doubles with each failure, up to a limit. No jitter; add some if many clients wait at the
 * same time.
 * @param failures consecutive failures before this one
 */
export function doublingDelayMs(failures: number, { firstMs, longestMs }: DoublingDelay): number {
  return Math.min(firstMs * 2 ** Math.min(failures, MOST_DOUBLINGS), longestMs);
}
