import { describe, expect, it } from 'vitest';
import { checkSchedule, checkTimeZone } from './cron-schedule.js';
import { TIME_ZONES } from './time-zones.js';

describe('a schedule', () => {
  it.each([
    ['*/5 * * * *'],
    ['0 0 1,15 JAN-mar Mon-FRI'],
    ['  1  2 3 4 5 '],
    ['@daily'],
    ['@every 1h30m'],
    ['@every 1.5s'],
  ])('may be %j', (schedule) => {
    expect(checkSchedule(schedule)).toEqual([]);
  });

  it.each([
    ['Bogus', 'expected exactly 5 fields, found 1: [Bogus]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* 5-2 * * *', 'beginning of range (5) beyond end of range (2): 5-2'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['*/1/2 * * * *', 'too many slashes: */1/2'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['* * L * *', 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
    ['-5 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['@often', 'unrecognized descriptor: @often'],
    ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
    ['@every 5d', 'failed to parse duration @every 5d: time: unknown unit "d" in duration "5d"'],
    ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
    ['TZ=UTC * * * * *', 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
  ])('is refused in the words of its parser: %j', (schedule, problem) => {
    expect(checkSchedule(schedule)).toEqual([problem]);
  });
});

describe('a time zone', () => {
  it.each(['Europe/Berlin', 'Etc/GMT+5', 'EST5EDT', 'UTC', 'US/Pacific', 'America/Argentina/Buenos_Aires'])(
    'is a name of the database: %s',
    (name) => {
      expect(checkTimeZone(name)).toEqual([]);
    },
  );

  it.each([
    'europe/berlin',
    'utc',
    'America/New_york',
    '+01:00',
    '+0100',
    'etc/gmt+5',
    '../UTC',
    'Europe',
    'Nowhere',
  ])('has the letters that it has there: not %s', (name) => {
    expect(checkTimeZone(name)).toEqual([`unknown time zone ${name}`]);
  });

  it('is known to this runtime, whichever the database has', () => {
    const names = Object.entries(TIME_ZONES).flatMap(([region, list]) =>
      list.split(' ').map((name) => (region === '' ? name : `${region}/${name}`)),
    );
    expect(names.length).toBeGreaterThan(590);
    expect(names.filter((name) => checkTimeZone(name).length > 0)).toEqual([]);
  });
});
