import type { Clock } from './clock.js';

/**
 * The wait between two rounds of a loop. Ends when the time is over or `signal` aborts, and never rejects.
 * @returns whether the loop continues
 */
export async function pause(
  clock: Pick<Clock, 'sleep'>,
  delayMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  await clock.sleep(delayMs, signal).catch(() => undefined);
  return !signal.aborted;
}
