export interface WaitForOptions {
  /** Only a wait that was in vain lasts this long. It ends before the test around it, whose end tells less. @default 60000 */
  timeoutMs?: number;
  /** @default 10 */
  intervalMs?: number;
  /** What is waited for, for the error. */
  what?: string;
}

/**
 * Polls until `condition` answers something other than `undefined` and `false`, on the real clock. It looks at least once.
 * @throws Error naming `what` and how long it was waited for
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
      throw new Error(`waited ${Math.round(waitedMs)} ms in vain for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
