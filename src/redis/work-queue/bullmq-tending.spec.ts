import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { LeaderPrecedence, compileWorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { RunningWork } from '@rollkeeper/runtime/work-queue/running-work';
import { noWorkQueueMetrics } from '@rollkeeper/runtime/work-queue/work-queue-metrics';
import { BullMqTending } from './bullmq-tending.js';

const AT_REST = { isAtRest: true, waiting: 0, active: 0, parked: 0, isPaused: false };
const ACTIVE = { ...AT_REST, isAtRest: false, active: 1 };

let clock: FakeClock;
let precedence: LeaderPrecedence;
let running: RunningWork;
let seen: typeof AT_REST;
let counts: { glances: number; maintained: number; swept: number; takeOvers: number };
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  precedence = new LeaderPrecedence();
  running = new RunningWork(clock);
  seen = AT_REST;
  counts = { glances: 0, maintained: 0, swept: 0, takeOvers: 0 };
  stop = new AbortController();
});

function tend(): { tending: BullMqTending; end: () => Promise<void> } {
  const queue = {
    name: 'deployment',
    metrics: noWorkQueueMetrics,
    options: compileWorkQueueOptions(),
    glance: async () => {
      counts.glances += 1;
      return seen;
    },
    maintain: async () => void (counts.maintained += 1),
    sweepStray: async () => (counts.swept += 1),
  };
  const takeOver = async (): Promise<void> => void (counts.takeOvers += 1);
  const tending = new BullMqTending({ queue, clock, precedence, running, takeOver, logger: silentLogger });
  const run = tending.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await run;
  };
  return { tending, end };
}

describe('tending a queue', () => {
  it('is one glance a second where the queue is at rest, and nothing else', async () => {
    precedence.set(true);
    const { end } = tend();
    await clock.advance(20_000);
    expect(counts).toEqual({ glances: 20, maintained: 0, swept: 0, takeOvers: 0 });
    await end();
  });

  it('is a fifth of that on a replica that does not come first', async () => {
    const { end } = tend();
    await clock.advance(20_000);
    expect(counts.glances).toBeLessThanOrEqual(5);
    expect(counts.glances).toBeGreaterThanOrEqual(3);
    await end();
  });

  it('goes on every second there while anything is in the queue, with maintenance', async () => {
    seen = { ...AT_REST, isAtRest: false, waiting: 3 };
    const { end } = tend();
    await clock.advance(10_000);
    expect(counts).toEqual({ glances: 10, maintained: 10, swept: 2, takeOvers: 0 });
    await end();
  });

  it('glances at once when the replica comes first, since another may just have died', async () => {
    const { end } = tend();
    await clock.advance(5001);
    const before = counts.glances;
    precedence.set(true);
    await clock.advance(0);
    expect(counts.glances).toBe(before + 1);
    await end();
  });

  it('glances at once when a key is taken here', async () => {
    const { end, tending } = tend();
    await clock.advance(5001);
    const before = counts.glances;
    tending.started();
    await clock.advance(0);
    expect(counts.glances).toBe(before + 1);
    await end();
  });

  it('looks for the keys of dead workers only while a key is active', async () => {
    precedence.set(true);
    const { end } = tend();
    await clock.advance(5000);
    expect(counts.takeOvers).toBe(0);
    seen = ACTIVE;
    await clock.advance(4000);
    // Every 300 ms since the glance that saw it.
    expect(counts.takeOvers).toBeGreaterThanOrEqual(10);
    seen = AT_REST;
    await clock.advance(2000);
    const before = counts.takeOvers;
    await clock.advance(5000);
    expect(counts.takeOvers).toBe(before);
    await end();
  });

  it('finds an active key before its lock can have expired', async () => {
    precedence.set(true);
    const { end } = tend();
    await clock.advance(5001);
    seen = ACTIVE;
    await clock.advance(1000);
    expect(counts.takeOvers).toBeGreaterThan(0);
    await end();
  });

  it('is done by all queues of a process at the same moments', async () => {
    precedence.set(true);
    const first = tend();
    await clock.advance(300);
    const second = tend();
    await clock.advance(2700);
    const before = counts.glances;
    await clock.advance(999);
    expect(counts.glances).toBe(before);
    await clock.advance(1);
    expect(counts.glances).toBe(before + 2);
    await Promise.all([first.end(), second.end()]);
  });
});
