import { describe, expect, it } from 'vitest';
import { EvenSpread, chooseBackend, isMirrored } from '../../../examples/traffic/gateway/choose-backend.ts';
import type { RouteFilter } from '../../../examples/traffic/gateway/gateway-api.ts';
import type { RandomSource } from '../../../src/machinery/clock/index.js';
import { SeededRandom } from '../../../src/machinery/clock/index.js';

const REQUESTS = 20_000;

/** The part of the requests that each of these weights gets. */
function sharesOf(weights: readonly (number | undefined)[], random: RandomSource): readonly number[] {
  const backends = weights.map((weight, index) => ({ name: String(index), weight }));
  const counts = weights.map(() => 0);
  for (let request = 0; request < REQUESTS; request++) {
    const chosen = Number(chooseBackend(backends, random)?.name);
    counts[chosen] = (counts[chosen] ?? 0) + 1;
  }
  return counts.map((count) => count / REQUESTS);
}

describe('the split of the small gateway', () => {
  it.each([
    [
      [100, 0],
      [1, 0],
    ],
    [
      [99, 1],
      [0.99, 0.01],
    ],
    [
      [95, 5],
      [0.95, 0.05],
    ],
    [
      [80, 20],
      [0.8, 0.2],
    ],
    [
      [1, 1],
      [0.5, 0.5],
    ],
    [
      [0, 100],
      [0, 1],
    ],
    [
      [3, 1, 4],
      [0.375, 0.125, 0.5],
    ],
    [
      [undefined, undefined],
      [0.5, 0.5],
    ],
  ])('gives, of 20 000 requests by the weights %j, each backend its share within 1 %%', (weights, asked) => {
    for (const random of [new SeededRandom(20_000), new EvenSpread()]) {
      const shares = sharesOf(weights, random);
      for (const [index, share] of shares.entries())
        expect(Math.abs(share - (asked[index] ?? 0)), `backend ${index}: ${share}`).toBeLessThan(0.01);
    }
  });

  it('gives a backend whose weight is 0 no request at all', () => {
    expect(sharesOf([0, 7, 0], new SeededRandom(1))).toEqual([0, 1, 0]);
  });

  it('has no backend if none has a weight', () => {
    expect(chooseBackend([{ name: 'a', weight: 0 }], new EvenSpread())).toBeUndefined();
    expect(chooseBackend([], new EvenSpread())).toBeUndefined();
  });

  it('is within 0.1 % at any moment if the numbers are spread evenly', () => {
    const random = new EvenSpread();
    for (let skipped = 0; skipped < 777; skipped++) random.next();
    expect(Math.abs((sharesOf([50, 50], random)[0] ?? 0) - 0.5)).toBeLessThan(0.001);
  });

  it.each([
    [{}, 1],
    [{ percent: 10 }, 0.1],
    [{ percent: 0 }, 0],
    [{ fraction: { numerator: 1, denominator: 8 } }, 0.125],
    [{ fraction: { numerator: 3 } }, 0.03],
  ])('copies the share of the requests that a mirror asks for: %j', (part, asked) => {
    const random = new SeededRandom(7);
    const filter: RouteFilter = {
      type: 'RequestMirror',
      requestMirror: { backendRef: { name: 'copy' }, ...part },
    };
    const copied = Array.from({ length: REQUESTS }, () => isMirrored(filter, random)).filter(Boolean).length;
    expect(Math.abs(copied / REQUESTS - asked)).toBeLessThan(0.01);
  });
});
