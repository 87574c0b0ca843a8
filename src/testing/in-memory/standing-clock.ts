import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { UnsupportedError } from '@rollkeeper/machinery/errors';

/** A clock fixed at one time, for runs that must not depend on when they run. It has no timers. */
export class StandingClock implements Clock {
  /** @param wallMs epoch milliseconds */
  constructor(private readonly wallMs: number) {}

  now(): number {
    return this.wallMs;
  }

  monotonicNow(): number {
    return 0;
  }

  setTimeout(): TimerHandle {
    throw new UnsupportedError('a standing clock has no timers');
  }

  async sleep(): Promise<void> {
    throw new UnsupportedError('a standing clock cannot sleep');
  }
}
