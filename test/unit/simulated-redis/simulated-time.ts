import { afterAll, beforeAll } from 'vitest';
import { FakeClock } from '../../../src/machinery/clock/index.js';
import { ownTimers } from '../../../src/testing/simulation/redis/own-timers.js';
import { SimulatedRedis } from '../../../src/testing/simulation/redis/simulated-redis.js';

/** So many turns of the event loop take a millisecond of simulated time while a test awaits something. */
const TURNS_OF_A_MILLISECOND = 10;
/** No chain of commands that follows from one moment of a contract is longer. */
const TURNS_OF_A_MOMENT = 24;
/** Milliseconds; less than any time that a contract names. */
const SLICE_MS = 5;

/** A simulated Redis on a simulated clock, which is that of the whole process while the tests of a file run. */
export interface SimulatedTime {
  readonly clock: FakeClock;
  readonly server: SimulatedRedis;
  pass(ms: number): Promise<void>;
  until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<void>;
}

let servers = 0;

/** Lets time go on slowly on a clock that is the whole process's, until the result is called. */
export function letTimePass(clock: FakeClock, move = (step: () => Promise<void>) => step()): () => void {
  const giveBack = ownTimers(clock);
  let isOver = false;
  void (async () => {
    while (!isOver) {
      await turns(TURNS_OF_A_MILLISECOND);
      await move(() => clock.advance(1));
    }
  })();
  return () => {
    isOver = true;
    giveBack();
  };
}

/** For a file of tests: timers of libraries, and those that wait in tests, are the simulated clock's, which goes on slowly. */
export function useSimulatedTime(): SimulatedTime {
  const clock = new FakeClock();
  const server = new SimulatedRedis({ clock, name: `redis-${++servers}` });
  let moving = Promise.resolve();
  /** Time is moved in one place at a time. */
  const alone = (move: () => Promise<void>): Promise<void> => (moving = moving.then(move));
  let stop: () => void;
  beforeAll(() => {
    stop = letTimePass(clock, alone);
  });
  afterAll(() => {
    server.close();
    stop();
  });
  const pass = async (ms: number): Promise<void> => {
    await turns(TURNS_OF_A_MOMENT);
    await alone(() => clock.advanceThrough(ms, () => turns(TURNS_OF_A_MOMENT)));
  };
  return {
    clock,
    server,
    pass,
    async until(condition, withinMs) {
      const endMs = clock.monotonicNow() + withinMs;
      while (!(await condition())) {
        if (clock.monotonicNow() > endMs) throw new Error(`not within ${withinMs} ms of simulated time`);
        await pass(SLICE_MS);
      }
    },
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
