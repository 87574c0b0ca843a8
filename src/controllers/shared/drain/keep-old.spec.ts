import { describe, expect, it } from 'vitest';
import { parseKeepOld, renderKeepOld } from './keep-old.js';

describe('the rule by which old versions drain', () => {
  it.each([
    ['until "http :8080/sessions == 0"', 'until "http :8080/sessions == 0", at most 1d, at most 3'],
    ['until "http :1/a?b=c .open.0 == 12", at most 2, at most 90s', undefined],
    ['until "metric :9090/metrics app:sessions == 0",at most 5,at most 2h', undefined],
    ['until "annotation example.com/idle == true", at most 10m', undefined],
  ])('%s is read and written', (text, written) => {
    const rule = parseKeepOld(text);
    expect(rule).toBeDefined();
    const canonical = rule && renderKeepOld(rule);
    if (written !== undefined) expect(canonical).toBe(written);
    expect(parseKeepOld(canonical ?? '')).toEqual(rule);
  });

  it('has a longest time of a day and three versions unless it says otherwise', () => {
    expect(parseKeepOld('until "annotation idle == yes"')).toEqual({
      until: { kind: 'annotation', key: 'idle', equals: 'yes' },
      atMostMs: 86_400_000,
      versions: 3,
    });
  });

  it.each([
    '',
    'until idle',
    'until "http 10.0.0.1:80/x == 0"',
    'until "http :80@evil.example/x == 0"',
    'until "http ://evil.example/x == 0"',
    'until "http :0/x == 0"',
    'until "http :65536/x == 0"',
    'until "http :80/x#y == 0"',
    'until "http :80/x\\y == 0"',
    'until "http :80/x y == 0"',
    'until "http :80/x == -1"',
    'until "http :80/x > 0"',
    'until "metric :80/x == 0"',
    'until "http :80/x == 0", at most 0',
    'until "http :80/x == 0", at most 31d',
    'until "http :80/x == 0", at most 1h, at most 2h',
    'until "http :80/x == 0", at most 1, at most 2',
    'until "http :80/x == 0", at most',
    `until "http :80/${'x'.repeat(300)} == 0"`,
  ])('is none if it is %j', (text) => {
    expect(parseKeepOld(text)).toBeUndefined();
  });
});
