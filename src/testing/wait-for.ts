/** The options of {@link waitFor}. */
export interface WaitForOptions {
  /** Shorter than the timeout of the test around it, whose message says less. @default 60000 */
  timeoutMs?: number;
  /** @default 10 */
  intervalMs?: number;
  /** Description of the condition, for the error. */
  what?: string;
}

/**
 * Polls until `condition` returns something other than `undefined` and `false`, on the real clock. It checks at least
 * once.
 * @throws Error naming `what` and how long it waited
 */
export async function waitFor<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitForOptions = {},
): Promise<T> {
  const { timeoutMs = 60_000, intervalMs = 10, what = 'the condition' } = options;
  const beganMs = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waitedMs = performance.now() - beganMs;
    if (waitedMs > timeoutMs) {
      throw new Error(`waited ${Math.round(waitedMs)} ms for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
