import { describe, expect, it } from 'vitest';
import { compileSchedule, inTimeZone } from './schedule.js';

function startsOf(text: string, from: string, { count = 2, zone = 'UTC' } = {}): string[] {
  const schedule = compileSchedule(text, zone);
  const starts: string[] = [];
  for (let ms = Date.parse(from); starts.length < count;) {
    const next = schedule.next(ms);
    if (next === undefined) break;
    starts.push(new Date(next).toISOString().slice(0, 19));
    ms = next;
  }
  return starts;
}

describe('a schedule', () => {
  it.each([
    { text: '*/15 * * * *', starts: ['2026-01-01T00:15:00', '2026-01-01T00:30:00'] },
    { text: '@hourly', starts: ['2026-01-01T01:00:00', '2026-01-01T02:00:00'] },
    { text: '@every 1h30m', starts: ['2026-01-01T01:30:30', '2026-01-01T03:00:30'] },
    { text: '0 9 * * MON-FRI', starts: ['2026-01-01T09:00:00', '2026-01-02T09:00:00'] },
    { text: '5/40 * * * *', starts: ['2026-01-01T00:05:00', '2026-01-01T00:45:00'] },
    { text: '0 0 * * MON/2', starts: ['2026-01-02T00:00:00', '2026-01-05T00:00:00'] },
    { text: '*/70 * * * *', starts: ['2026-01-01T01:00:00', '2026-01-01T02:00:00'] },
    { text: '59 23 31 2 *', starts: [] },
  ])('$text starts at $starts', ({ starts, text }) => {
    expect(startsOf(text, '2026-01-01T00:00:30.5Z')).toEqual(starts);
  });

  it('goes by either if it has a day of the month and one of the week', () => {
    const days = startsOf('0 0 13 * 5', '2026-01-03T00:00:00Z', { count: 3 });
    expect(days.map((day) => day.slice(8, 10))).toEqual(['09', '13', '16']);
  });

  it('goes by the clocks of its time zone, and leaves out what they leave out', () => {
    const berlin = { zone: 'Europe/Berlin', count: 3 };
    expect(startsOf('30 2 * * *', '2026-03-27T12:00:00Z', berlin)).toEqual([
      '2026-03-28T01:30:00',
      '2026-03-30T00:30:00',
      '2026-03-31T00:30:00',
    ]);
  });

  it('is refused if it cannot be read', () => {
    expect(() => compileSchedule('61 * * * *', 'UTC')).toThrow();
  });
});

it('a time is shown with the offset of its time zone', () => {
  const ms = Date.parse('2026-07-01T12:00:00Z');
  expect(inTimeZone(ms, 'UTC')).toBe('2026-07-01T12:00:00Z');
  expect(inTimeZone(ms, 'Asia/Kolkata')).toBe('2026-07-01T17:30:00+05:30');
});
