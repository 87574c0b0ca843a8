import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { Sample, Samples } from './objectives.js';
import { ObjectiveLog, reportObjectives } from './index.js';

const MINUTE_MS = 60_000;
const NOW_MS = 10 * 24 * 60 * MINUTE_MS;

const firstWrites = (...firstWrite: Sample[]): Samples => ({ firstWrite, overhead: [] });
const agoOf = (minutes: number, seconds: number): Sample => [NOW_MS - minutes * MINUTE_MS, seconds];

describe('the objectives', () => {
  it('are judged by the measurements of all replicas, in each span of time', () => {
    const [first] = reportObjectives(
      [firstWrites(agoOf(1, 0.02), agoOf(30, 0.7)), firstWrites(agoOf(2, 0.04), agoOf(600, 0.03))],
      NOW_MS,
    );
    expect(first?.windows).toMatchObject([
      { window: '5m', count: 2, p50: 0.02, p99: 0.04, over: 0, burnt: 0 },
      { window: '1h', count: 3, p50: 0.04, p99: 0.7, over: 1 },
      { window: '24h', count: 4, over: 1 },
    ]);
    expect(first?.windows[2]?.burnt).toBeCloseTo(25);
  });

  it('have burnt their whole budget when one in a hundred took too long', () => {
    const samples = Array.from({ length: 100 }, (_, index) => agoOf(1, index === 0 ? 0.6 : 0.1));
    expect(reportObjectives([firstWrites(...samples)], NOW_MS)[0]?.windows[0]?.burnt).toBeCloseTo(1);
  });

  it('have burnt nothing where nothing was measured', () => {
    const [, overhead] = reportObjectives([], NOW_MS);
    expect(overhead?.windows[0]).toEqual({ window: '5m', count: 0, over: 0, burnt: 0 });
  });
});

describe('the measurements of a replica', () => {
  const nothing = () => undefined;
  const metrics = { firstWrite: nothing, overhead: nothing, ended: nothing };

  it('are kept for a day, and the newest two thousand', async () => {
    const clock = new FakeClock(NOW_MS);
    const log = new ObjectiveLog(clock);
    const noting = log.noting(metrics);
    noting.overhead(1500);
    for (let count = 0; count < 2100; count++) noting.firstWrite(count);
    expect(log.samples().firstWrite).toHaveLength(2000);
    expect(log.samples().overhead).toEqual([[NOW_MS, 1.5]]);
    await clock.advance(24 * 60 * MINUTE_MS + 1);
    expect(log.samples()).toEqual({ firstWrite: [], overhead: [] });
  });
});
