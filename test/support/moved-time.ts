import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { FakeClock } from '../../src/machinery/clock/index.js';

const MOVE = readFileSync(join(import.meta.dirname, 'move-time.lua'), 'utf8');
/** No chain of commands that follows from one moment of a contract is longer. */
const STEPS_OF_ONE_MOMENT = 12;

/** Timers wait for the test; what the time is called is the machine's, as in Redis and BullMQ, where deadlines come nearer instead. */
class MovedClock extends FakeClock {
  override now(): number {
    return Date.now();
  }
}

/**
 * A real Redis in which time goes on when a test says so: stored values are aged, and the timers of `clock` fire. The
 * real clocks go on as well, so a value that has to last must be long; with moved time it costs nothing.
 */
export class MovedTime {
  readonly clock: FakeClock = new MovedClock();
  private readonly redis: Redis;

  /**
   * @param keys pattern of the keys that are aged
   * @param sliceMs the longest time that passes at once; less than the shortest deadline by far
   */
  constructor(
    redisUrl: string,
    private readonly keys: string,
    private readonly sliceMs: number,
  ) {
    this.redis = new Redis(redisUrl);
  }

  async pass(ms: number): Promise<void> {
    await this.settle();
    for (let left = ms; left > 0; left -= this.sliceMs) {
      const slice = Math.min(this.sliceMs, left);
      while ((await this.redis.eval(MOVE, 0, this.keys, Math.ceil(slice))) === -1) await this.settle();
      await this.clock.advance(slice);
      await this.settle();
    }
  }

  /**
   * Lets time go on until the condition holds, for no more than `withinMs`. Then it waits for what is still under way, on the
   * machine's clock: how busy that is decides nothing.
   */
  async until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<void> {
    for (let passed = 0; passed < withinMs; passed += this.sliceMs) {
      await this.settle();
      if (await condition()) return;
      await this.pass(this.sliceMs);
    }
    for (let looks = 0; !(await condition()); looks++) {
      if (looks === 3000) throw new Error(`not within ${withinMs} ms of moved time`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  close(): void {
    this.redis.disconnect();
  }

  /** Everything that was sent to Redis before is answered, and so is what was sent upon these answers, and so on. */
  private async settle(): Promise<void> {
    for (let step = 0; step < STEPS_OF_ONE_MOMENT; step++) {
      await this.redis.ping();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
