import type { Clock } from './clock.js';
import { pause } from './pause.js';

/**
 * The wait between two rounds of a loop that keeps step with all loops of the same period in this process, so that what they
 * ask for at the same moment can be asked for together. Lasts between half a period and one and a half; never rejects.
 * @returns whether the loop continues
 */
export function pauseUntilBeat(
  clock: Pick<Clock, 'monotonicNow' | 'sleep'>,
  periodMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  return pause(clock, untilBeatMs(clock.monotonicNow(), periodMs), signal);
}

/** How long until the next beat that is at least half a period away, milliseconds. */
export function untilBeatMs(nowMs: number, periodMs: number): number {
  const leftMs = periodMs - (nowMs % periodMs);
  return leftMs < periodMs / 2 ? leftMs + periodMs : leftMs;
}
