import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { checkDns1123Subdomain } from '../../machinery/kubernetes/index.js';
import { EventNames } from './event-names.js';

describe('the names of Events', () => {
  it('are in order, within a millisecond as well', () => {
    const clock = new FakeClock();
    const names = new EventNames(clock, new SeededRandom(1));
    const made = Array.from({ length: 100 }, (_, index) => {
      if (index % 10 === 0) void clock.advance(1);
      return names.next('web');
    });
    expect(made).toEqual(made.toSorted());
    expect(new Set(made).size).toBe(100);
  });

  it('are of two recorders different', () => {
    const clock = new FakeClock();
    const [a, b] = [1, 2].map((seed) => new EventNames(clock, new SeededRandom(seed)));
    expect(a?.next('web')).not.toBe(b?.next('web'));
  });

  it.each([
    ['web-1.shop', 'web-1.shop'],
    ['system:node', 'system-node'],
    ['the API server’s certificate', 'the-api-server-s-certificate'],
    ['rk_2', 'rk-2'],
    ['-a..b-', '0a.00.b0'],
    [`${'a'.repeat(235)}.b`, `${'a'.repeat(235)}0`],
  ])('are names of objects, also where that of %j is none', (name, part) => {
    const made = new EventNames(new FakeClock(), new SeededRandom(1)).next(name);
    expect(checkDns1123Subdomain(made)).toEqual([]);
    if (!name.includes('..')) expect(made.startsWith(`${part}.`)).toBe(true);
  });

  it('fit into the name of an object, however long that of theirs is', () => {
    expect(
      new EventNames(new FakeClock(), new SeededRandom(1)).next('w'.repeat(253)).length,
    ).toBeLessThanOrEqual(253);
  });
});
