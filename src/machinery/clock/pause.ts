import type { Clock } from './clock.js';

/**
 * The wait between two rounds of a loop: ends when the time is over or `signal` aborts, and never rejects.
 * @returns whether the loop goes on
 */
export async function pause(
  clock: Pick<Clock, 'sleep'>,
  delayMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  await clock.sleep(delayMs, signal).catch(() => undefined);
  return !signal.aborted;
}
