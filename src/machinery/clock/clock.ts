import { reasonOf } from '../cancellation/index.js';

/** Handle of a pending timer; cancelling twice, or after it fired, does nothing. */
export interface TimerHandle {
  cancel(): void;
}

/**
 * The only source of time in the product. Production code uses {@link SystemClock}, tests a FakeClock that they
 * step by hand. `now()` may jump with the machine's wall clock; every duration, deadline and expiry must be
 * measured with `monotonicNow()`.
 */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. May jump in either direction. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicNow(): number;
  /** Runs `callback` once after `delayMs`, which may be any number of days; below 0 counts as 0. */
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  /**
   * Resolves after `delayMs`. Rejects with `signal.reason` as soon as `signal` aborts, or at once if it has already
   * aborted. In both cases no timer remains.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The last second of year 9999, beyond which RFC 3339 has no form. Milliseconds since the Unix epoch. */
export const LAST_RFC3339_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * The instant as RFC 3339 with whole seconds, the form of Kubernetes' `metav1.Time`; capped at {@link LAST_RFC3339_MS}.
 */
export function toRfc3339(epochMs: number): string {
  const second = Math.floor(Math.min(epochMs, LAST_RFC3339_MS) / 1000);
  if (second !== lastSecond.epoch) {
    const text = `${new Date(second * 1000).toISOString().slice(0, -'.000Z'.length)}Z`;
    lastSecond = { epoch: second, text };
  }
  return lastSecond.text;
}

/** Everything that is written within a second has the same text. */
let lastSecond = { epoch: NaN, text: '' };

/** The instant as RFC 3339 with microseconds, the form of Kubernetes' `metav1.MicroTime`. */
export function toRfc3339Micro(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/Z$/, '000Z');
}

/** `Clock.sleep` in terms of `Clock.setTimeout`; shared by the implementations. */
export function sleepOn(
  clock: Pick<Clock, 'setTimeout'>,
  delayMs: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      if (signal) reject(reasonOf(signal));
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
