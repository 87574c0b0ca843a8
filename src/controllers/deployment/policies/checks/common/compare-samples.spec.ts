import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '@rollkeeper/machinery/clock';
import { propertyRuns } from '../../../../../testing/property-runs.js';
import type { ComparisonRules } from './compare-samples.js';
import { CONFIDENCES, compareSamples, shiftBetween } from './compare-samples.js';

const RULES: ComparisonRules = {
  ...{ worse: 'increase', tolerance: 0.25, confidence: '98%', windowMs: 600_000, least: 10 },
};

/** Normally distributed, by the sum of twelve uniform numbers. */
function samples(
  seed: number,
  { mean, deviation, count = 40 }: { mean: number; deviation: number; count?: number },
) {
  const random = new SeededRandom(seed);
  const normal = (): number => Array.from({ length: 12 }, () => random.next()).reduce((a, b) => a + b, -6);
  return Array.from({ length: count }, () => mean + deviation * normal());
}

describe('samples of two versions', () => {
  it('have the shift and the interval of a worked example', () => {
    // Tritiated water through membranes, at term and at 12 to 26 weeks: Hollander and Wolfe, table 4.1.
    const atTerm = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const earlier = [1.15, 0.88, 0.9, 0.74, 1.21];
    const { estimate, high, low } = shiftBetween(atTerm, earlier, '95%');
    expect(estimate).toBeCloseTo(0.305, 3);
    expect([low, high].map((each) => Number(each.toFixed(2)))).toEqual([-0.15, 0.76]);
  });

  it.each([
    ['the same', samples(1, { mean: 100, deviation: 10 }), 'passed'],
    ['a fifth slower, which is tolerated', samples(2, { mean: 120, deviation: 5 }), 'passed'],
    ['half as slow again', samples(3, { mean: 150, deviation: 10 }), 'failed'],
    ['twice as fast', samples(4, { mean: 50, deviation: 5 }), 'passed'],
    ['slower by two outliers alone', [...samples(5, { mean: 100, deviation: 5 }), 5000, 5000], 'passed'],
    ['too few', samples(6, { mean: 150, deviation: 1, count: 9 }), 'unknown'],
    ['none', [], 'unknown'],
    ['no numbers', Array.from({ length: 40 }, () => NaN), 'unknown'],
  ])('count, being %s, as %s', (_what, canary, verdict) => {
    expect(compareSamples(canary, samples(7, { mean: 100, deviation: 10 }), RULES).verdict).toBe(verdict);
  });

  it('are worse in the direction that is asked for', () => {
    const [few, many] = [samples(8, { mean: 40, deviation: 2 }), samples(9, { mean: 100, deviation: 2 })];
    const verdict = (worse: ComparisonRules['worse']) =>
      compareSamples(few, many, { ...RULES, worse }).verdict;
    expect([verdict('increase'), verdict('decrease'), verdict('either')]).toEqual([
      'passed',
      'failed',
      'failed',
    ]);
    expect(compareSamples(few, many, { ...RULES, worse: 'decrease' }).message).toMatch(
      /^the median is [\d.]+, [\d.]+ in the stable version: below it by at least \d+/,
    );
  });

  it('are the same if they never vary, and different if they differ', () => {
    const constant = (value: number) => Array.from({ length: 20 }, () => value);
    expect(compareSamples(constant(0), constant(0), RULES).verdict).toBe('passed');
    expect(compareSamples(constant(1), constant(0), RULES).verdict).toBe('failed');
  });

  it('from one source are told apart about as seldom as the confidence says', () => {
    const runs = 400;
    const wrong = Array.from({ length: runs }, (_, seed) => {
      const [canary, stable] = [samples(1000 + seed, STANDARD), samples(9000 + seed, STANDARD)];
      return compareSamples(canary, stable, { ...RULES, tolerance: 0, worse: 'either' }).verdict === 'failed';
    }).filter(Boolean).length;
    // More than 20 of 400 with 2 % each are less likely than one in 10 000.
    expect(wrong).toBeLessThanOrEqual(20);
  });

  it('have an interval around the estimate that grows with the confidence, whatever they are', () => {
    const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), {
      minLength: 8,
      maxLength: 40,
    });
    fc.assert(
      fc.property(numbers, numbers, (ours, theirs) => {
        let inner = { low: Infinity, high: -Infinity };
        for (const confidence of CONFIDENCES) {
          const shift = shiftBetween(ours, theirs, confidence);
          expect(shift.low).toBeLessThanOrEqual(shift.estimate);
          expect(shift.high).toBeGreaterThanOrEqual(shift.estimate);
          expect(shift.low).toBeLessThanOrEqual(inner.low);
          expect(shift.high).toBeGreaterThanOrEqual(inner.high);
          inner = shift;
        }
      }),
      propertyRuns({ gate: 100 }),
    );
  });
});

const STANDARD = { mean: 10, deviation: 3, count: 30 };
