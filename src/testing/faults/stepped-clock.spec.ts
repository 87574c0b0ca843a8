import { FakeClock } from '@rollkeeper/machinery/clock';
import { expect, it } from 'vitest';
import { SteppedClock } from './stepped-clock.js';

it('a clock that is put back shows another time, and measures the same durations', async () => {
  const behind = new FakeClock();
  const clock = new SteppedClock(behind);
  const [wallMs, startMs] = [clock.now(), clock.monotonicNow()];
  let rang = false;
  clock.setTimeout(() => (rang = true), 1000);
  clock.step(-3_600_000);
  expect(clock.now()).toBe(wallMs - 3_600_000);
  await behind.advance(1000);
  expect(rang).toBe(true);
  expect(clock.monotonicNow() - startMs).toBe(1000);
  expect(clock.now()).toBe(wallMs - 3_599_000);
});
