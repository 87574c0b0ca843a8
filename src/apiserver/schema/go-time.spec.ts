import { describe, expect, it } from 'vitest';
import { canonicalMicroTime, canonicalTime } from './times.js';

const LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

describe('times of objects', () => {
  it.each([
    ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59Z'],
    ['2026-01-01T00:00:00.123456789+02:00', '2025-12-31T22:00:00Z'],
    ['2026-01-01T0:00:00,5Z', '2026-01-01T00:00:00Z'],
  ])('%s is written %s', (text, written) => {
    expect(canonicalTime(text)).toBe(written);
  });

  it('have six digits after the second where they have microseconds', () => {
    expect(canonicalMicroTime('2026-01-01T0:00:00.123456Z')).toBe('2026-01-01T00:00:00.123456Z');
  });

  it.each([
    ['é', `parsing time "\\xc3\\xa9" as "${LAYOUT}": cannot parse "\\xc3\\xa9" as "2006"`],
    ['2026-01-01', `parsing time "2026-01-01" as "${LAYOUT}": cannot parse "" as "T"`],
    ['2026-01-01T00:00:00', `parsing time "2026-01-01T00:00:00" as "${LAYOUT}": cannot parse "" as "Z07:00"`],
    ['2026-01-01T00:00:00Zx', 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'],
    ['2026-13-01T00:00:00Z', 'parsing time "2026-13-01T00:00:00Z": month out of range'],
    ['2026-02-30T00:00:00Z', 'parsing time "2026-02-30T00:00:00Z": day out of range'],
  ])('are refused in the words of Go: %s', (text, message) => {
    expect(() => canonicalTime(text)).toThrow(message);
  });

  it.each([
    ['2026-01-01T00:00:00Z', 'Z', '.000000'],
    ['2026-01-01T00:00:00.5Z', '.5Z', '.000000'],
    ['2026-01-01T00:00:00.123456789+02:00', '789+02:00', 'Z07:00'],
  ])('need exactly six digits where they have microseconds: %s', (text, rest, element) => {
    expect(() => canonicalMicroTime(text)).toThrow(
      `parsing time "${text}" as "${MICRO_LAYOUT}": cannot parse "${rest}" as "${element}"`,
    );
  });
});
