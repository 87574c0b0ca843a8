import { StandingClock } from './in-memory/standing-clock.js';

/** A clock that only moves by hand. It has no timers. */
export class MovedClock extends StandingClock {
  private moved = 0;

  override now(): number {
    return super.now() + this.moved;
  }

  override monotonicNow(): number {
    return this.moved;
  }

  move(ms: number): void {
    this.moved += ms;
  }
}
