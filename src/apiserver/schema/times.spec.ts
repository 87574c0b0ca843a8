import { describe, expect, it } from 'vitest';
import { canonicalMicroTime, canonicalTime, timeSyntax } from './times.js';

describe('a time', () => {
  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['2026-01-01T01:30:00+01:30', '2026-01-01T00:00:00Z'],
    ['2025-12-31T23:00:00.999-01:00', '2026-01-01T00:00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('is kept in UTC with whole seconds: %s', (text, canonical) => {
    expect(canonicalTime(text)).toBe(canonical);
  });

  it('has six digits after the second where it is one of microseconds, no more and no fewer', () => {
    expect(canonicalMicroTime('2026-01-01T02:00:00.120000+02:00')).toBe('2026-01-01T00:00:00.120000Z');
    expect(canonicalMicroTime('2026-01-01T00:00:00Z')).toBeUndefined();
    expect(canonicalMicroTime('2026-01-01T00:00:00.1Z')).toBeUndefined();
    expect(canonicalMicroTime('2026-01-01T00:00:00.1234567Z')).toBeUndefined();
  });

  it.each([
    ['x', 'as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    ['é', 'as "2006-01-02T15:04:05Z07:00": cannot parse "\\xc3\\xa9" as "2006"'],
    ['2026-01-01', 'as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
    ['2026-1-01T00:00:00Z', 'as "2006-01-02T15:04:05Z07:00": cannot parse "1-01T00:00:00Z" as "01"'],
    ['2026-01-01T00:00:00+1', 'as "2006-01-02T15:04:05Z07:00": cannot parse "+1" as "Z07:00"'],
  ])('is refused at the place of its fault: %s', (text, reason) => {
    expect(timeSyntax(text, false).replace(/^parsing time ".*?" /, '')).toBe(reason);
    expect(canonicalTime(text)).toBeUndefined();
  });

  it.each([
    ['2026-13-01T00:00:00Z', 'month out of range'],
    ['2026-02-29T00:00:00Z', 'day out of range'],
    ['2026-01-01T24:00:00Z', 'hour out of range'],
    ['2026-01-01T00:60:00Z', 'minute out of range'],
    ['2026-01-01T00:00:60Z', 'second out of range'],
    ['2026-01-01T00:00:00+25:00', 'time zone offset hour out of range'],
    ['2026-01-01T00:00:00Zx', 'extra text: "x"'],
  ])('is refused by its part that no time has: %s', (text, reason) => {
    expect(timeSyntax(text, false)).toBe(`parsing time "${text}": ${reason}`);
    expect(canonicalTime(text)).toBeUndefined();
  });
});
