import os from 'node:os';

export interface WaitForOptions {
  /** Stretched, up to three times, while the machine has more to do than processors: see {@link patienceOf}. @default 10000 */
  timeoutMs?: number;
  /** @default 10 */
  intervalMs?: number;
  /** What is waited for, for the error. */
  what?: string;
}

/** A wait must end before the test around it is ended, which tells less. */
const MOST_PATIENCE = 3;

/**
 * Polls until `condition` answers something other than `undefined` and `false`, on the real clock. It looks at least once.
 * @throws Error naming `what` and how long it was waited for
 */
export async function waitFor<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitForOptions = {},
): Promise<T> {
  const { timeoutMs = 10_000, intervalMs = 10, what = 'the condition' } = options;
  const beganMs = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waitedMs = performance.now() - beganMs;
    if (waitedMs > timeoutMs * patienceOf(os.loadavg()[0] ?? 0, os.availableParallelism())) {
      throw new Error(`waited ${Math.round(waitedMs)} ms in vain for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

/**
 * How many times as long a wait may take on a machine with so much to do: what is held up because others run finds no fault.
 * @param load average number of processes that would run, over the last minute
 */
export function patienceOf(load: number, processors: number): number {
  return Math.min(Math.max(load / processors, 1), MOST_PATIENCE);
}
