import type { Clock } from './clock.js';
import type { DoublingDelay } from './doubling-delay.js';
import { doublingDelayMs } from './doubling-delay.js';
import { pause } from './pause.js';

export interface FollowOptions extends DoublingDelay {
  readonly clock: Pick<Clock, 'monotonicNow' | 'sleep'>;
  /** A round that lasted this long, milliseconds, shows that the other side works: the pauses start again at `firstMs`. */
  readonly healthyAfterMs: number;
  /** Called with the error of a round, unless the signal has aborted. @default nothing */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Follows something that has to be followed again whenever it ends, such as a watch after a list. The next round starts
 * at once only if this one lasted for `healthyAfterMs` and did not fail. After any other round there is a pause, which
 * doubles from `firstMs` to `longestMs`: a server that ends each watch at once, even without an error, must not be
 * called in a hot loop.
 *
 * Runs until `signal` aborts or a round resolves to `over`. Never rejects.
 */
export async function keepFollowing(
  round: () => Promise<'over' | void>,
  { clock, healthyAfterMs, onFailure, ...delays }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  let short = 0;
  while (!signal.aborted) {
    const beganMs = clock.monotonicNow();
    let hasFailed = false;
    try {
      if ((await round()) === 'over') return;
    } catch (error) {
      if (hasAborted(signal)) return;
      hasFailed = true;
      onFailure?.(error);
    }
    const isHealthy = clock.monotonicNow() - beganMs >= healthyAfterMs;
    if (isHealthy) short = 0;
    if (isHealthy && !hasFailed) continue;
    await pause(clock, doublingDelayMs(short++, delays), signal);
  }
}

function hasAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
