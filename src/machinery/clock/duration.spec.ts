import { describe, expect, it } from 'vitest';
import {
  formatGoDuration,
  parseDuration,
  parseGoDuration,
  parseGoDurationMs,
  renderDuration,
} from './duration.js';

describe('a Go duration', () => {
  it.each([
    ['0', 0n],
    ['1ns', 1n],
    ['1us', 1_000n],
    ['1µs', 1_000n],
    ['1.5h', 5_400_000_000_000n],
    ['1h30m', 5_400_000_000_000n],
    ['-1m.5s', -60_500_000_000n],
    ['+2ms', 2_000_000n],
    ['9223372036854775807ns', 9_223_372_036_854_775_807n],
    [`${'0'.repeat(5000)}1s`, 1_000_000_000n],
    [`1.${'3'.repeat(5000)}ns`, 1n],
  ])('is read from the text %.20s', (text, nanoseconds) => {
    expect(parseGoDuration(text)).toBe(nanoseconds);
  });

  it.each(['', '-', '1', '.s', '1d', '1 s', 's', '1h-1m', '9223372036854775808ns', `${'9'.repeat(5000)}s`])(
    'is not read from the text "%.20s"',
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined();
    },
  );

  it('in milliseconds is never negative', () => {
    expect(parseGoDurationMs('1m0.5s')).toBe(60_500);
    expect(parseGoDurationMs('-1s')).toBeUndefined();
  });

  it.each([
    [800, '800ms'],
    [10_000, '10s'],
    [80_000, '1m20s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
  ])('is printed, for %d ms, as %s', (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
  });
});

describe('a duration of a setting', () => {
  it.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['0.5s', 500],
    ['366d', 31_622_400_000],
  ])('is read from the text %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', '5ms', '-5m', '0', '367d'])('is not read from the text "%s"', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('is rendered in whole seconds, the longest unit first', () => {
    expect([0, 1, 90_000, 90_061_000].map(renderDuration)).toEqual(['0s', '1s', '1m30s', '1d1h1m1s']);
  });
});
