import { describe, expect, it } from 'vitest';
import { decideKill, decideReadiness, decideStartup, outcomeAt, parseProbeOutcome } from './probe-outcome.js';
import type { ProbeOutcome, ProbeTiming } from './probe-outcome.js';

const EVERY_10_S: ProbeTiming = {
  initialDelayMs: 0,
  periodMs: 10_000,
  failureThreshold: 3,
  successThreshold: 1,
};
const says = (text: string): ProbeOutcome => {
  const outcome = parseProbeOutcome(text);
  if (!outcome) throw new Error(`${text} is malformed`);
  return outcome;
};
/** Every change of readiness up to a time, as the node would follow it. */
function story(text: string, timing: Partial<ProbeTiming>, untilMs: number, fromMs = 0): [number, boolean][] {
  const changes: [number, boolean][] = [];
  for (let atMs: number | undefined = 0; atMs !== undefined && atMs <= untilMs;) {
    const { changesAtMs, succeeds } = decideReadiness(says(text), { ...EVERY_10_S, ...timing }, fromMs, atMs);
    changes.push([atMs / 1000, succeeds]);
    if (changesAtMs !== undefined) expect(changesAtMs).toBeGreaterThan(atMs);
    atMs = changesAtMs;
  }
  return changes;
}

describe('the finding of a probe', () => {
  it.each([
    ['succeeds', [true, true, true]],
    ['fails', [false, false, false]],
    ['fails after 30s', [true, false, false]],
    ['succeeds after 30s', [false, true, true]],
    ['flaps 30s', [true, false, true]],
    ['flaps 20s 30s', [true, false, true]],
  ])('is by "%s" at 0, 31 and 62 s: %j', (text, found) => {
    expect([0, 31_000, 62_000].map((atMs) => outcomeAt(says(text), atMs))).toEqual(found);
  });

  it.each([
    '',
    'sometimes',
    'fails after',
    'fails after soon',
    'flaps',
    'flaps 0s',
    'flaps 5s 0s',
    'fails now',
    'flaps 1s 2s 3s',
  ])('is not said by "%s"', (text) => {
    expect(parseProbeOutcome(text)).toBeUndefined();
  });
});

describe('a readiness probe', () => {
  it('counts when it is made, not when the container changes', () => {
    expect(story('succeeds after 12s', {}, 60_000)).toEqual([
      [0, false],
      [20, true],
    ]);
    expect(story('succeeds', { initialDelayMs: 5_000 }, 60_000)).toEqual([
      [0, false],
      [5, true],
    ]);
  });

  it('takes as many failures, and successes, as its thresholds say', () => {
    expect(story('fails after 15s', {}, 120_000)).toEqual([
      [0, true],
      [40, false],
    ]);
    expect(story('succeeds after 5s', { successThreshold: 2 }, 120_000)).toEqual([
      [0, false],
      [20, true],
    ]);
  });

  it('comes and goes for ever where it flaps', () => {
    const flaps = story('flaps 60s 40s', {}, 250_000);
    expect(flaps).toEqual([
      [0, true],
      [80, false],
      [100, true],
      [180, false],
      [200, true],
    ]);
    const late = decideReadiness(says('flaps 60s 40s'), EVERY_10_S, 0, 30 * 86_400_000 + 85_000);
    expect(late).toEqual({ succeeds: false, changesAtMs: 30 * 86_400_000 + 100_000 });
  });

  it('is not lost on failures that are too few in a row', () => {
    expect(story('flaps 30s 20s', {}, 200_000)).toEqual([[0, true]]);
  });

  it('begins when the startup probe has succeeded', () => {
    expect(story('succeeds', {}, 60_000, 25_000)).toEqual([
      [0, false],
      [25, true],
    ]);
  });
});

describe('a startup probe', () => {
  it('lets a slow container start, if it is patient enough', () => {
    const patient = { ...EVERY_10_S, failureThreshold: 30 };
    expect(decideStartup(says('succeeds after 45s'), patient)).toEqual({ startsAfterMs: 50_000 });
    expect(decideStartup(says('succeeds after 45s'), EVERY_10_S)).toEqual({ killedAfterMs: 20_000 });
    expect(decideStartup(says('fails'), EVERY_10_S)).toEqual({ killedAfterMs: 20_000 });
  });
});

describe('a liveness probe', () => {
  it('has its container killed at the last failure of the first run that is long enough', () => {
    expect(decideKill(says('fails after 35s'), EVERY_10_S, 0)).toBe(60_000);
    expect(decideKill(says('succeeds'), EVERY_10_S, 0)).toBeUndefined();
    expect(decideKill(says('flaps 60s 40s'), EVERY_10_S, 0)).toBe(80_000);
    expect(decideKill(says('flaps 30s 20s'), EVERY_10_S, 0)).toBeUndefined();
    expect(decideKill(says('fails'), { ...EVERY_10_S, failureThreshold: 1 }, 0)).toBe(1_000);
  });
});
