import type { Clock } from '@rollkeeper/machinery/clock';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { IllegalStateError, InvalidOptionError } from '@rollkeeper/machinery/errors';

/** The time of the objects in a test cluster. */
export interface TestClusterClock {
  /** Whether it only moves by {@link TestClusterClock.advance}. */
  readonly isManual: boolean;
  now(): Date;
  /**
   * Moves the time forward. What falls due on the way happens in order, each at its own time, and the cluster settles
   * in between: afterwards everything looks as after a real wait of that length.
   * @param ms milliseconds
   * @throws IllegalStateError unless the cluster was started with `clock: 'manual'`
   * @throws TimeoutError if the cluster does not settle; the time has then been moved up to that point
   */
  advance(ms: number): Promise<void>;
  /** The same, to an instant that is not in the past. */
  advanceTo(time: Date | string): Promise<void>;
}

export class SystemClusterClock implements TestClusterClock {
  readonly isManual = false;

  constructor(readonly clock: Clock) {}

  now(): Date {
    return new Date(this.clock.now());
  }

  advance(): Promise<void> {
    return Promise.reject(
      new IllegalStateError("only a cluster started with clock: 'manual' has a clock to move"),
    );
  }

  advanceTo(): Promise<void> {
    return this.advance();
  }
}

export class ManualClusterClock implements TestClusterClock {
  readonly isManual = true;
  readonly clock: FakeClock;
  private moving: Promise<void> = Promise.resolve();

  constructor(
    startMs: number,
    private readonly settled: () => Promise<void>,
  ) {
    this.clock = new FakeClock(startMs);
  }

  now(): Date {
    return new Date(this.clock.now());
  }

  advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity))
      return Promise.reject(new InvalidOptionError('ms', `${ms} is not a time to move forward by`));
    // Serialized: each call continues from where the previous one ended.
    const moved = this.moving.then(() => this.clock.advanceThrough(ms, this.settled));
    this.moving = moved.catch(() => undefined);
    return moved;
  }

  async advanceTo(time: Date | string): Promise<void> {
    await this.moving;
    const ms = new Date(time).getTime() - this.clock.now();
    if (Number.isNaN(ms)) throw new InvalidOptionError('time', `${String(time)} is not a valid time`);
    await this.advance(ms);
  }

  /** Moves back or forth without anything happening on the way; timers keep their remaining durations. */
  setTime(epochMs: number): void {
    this.clock.setWallClock(epochMs);
  }
}
