export interface WaitForOptions {
  /** @default 10000 */
  timeoutMs?: number;
  /** @default 10 */
  intervalMs?: number;
  /** What is waited for, for the error. */
  what?: string;
}

/** Polls until `condition` answers something other than `undefined` and `false`, on the real clock. */
export async function waitFor<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitForOptions = {},
): Promise<T> {
  const { timeoutMs = 10_000, intervalMs = 10, what = 'the condition' } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
