import { Cron } from 'croner';

/** When a CronJob starts its jobs. */
export interface Schedule {
  /** The first start after this, epoch milliseconds; undefined if there is none for years. */
  next(afterMs: number): number | undefined;
}

const EVERY = '@every ';
const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a schedule in the standard notation of robfig/cron, which the API server has validated: five fields, `@hourly`
 * and the like, `@every 90m`.
 * @param timeZone a name of the time zone database
 * @throws Error describing what cannot be parsed
 */
export function compileSchedule(text: string, timeZone: string): Schedule {
  const trimmed = text.trim();
  if (trimmed.startsWith(EVERY)) return everySchedule(trimmed.slice(EVERY.length));
  const cron = new Cron(withShortSteps(trimmed), {
    paused: true,
    timezone: timeZone,
    mode: '5-part',
    // `5/15` is from 5 to the end.
    sloppyRanges: true,
  });
  return {
    next(afterMs) {
      let next = cron.nextRun(new Date(afterMs));
      // A start in an hour skipped by the clock change does not happen, rather than happening a little later.
      while (next && !cron.match(next)) next = cron.nextRun(next);
      return next?.getTime();
    },
  };
}

/** The longest steps of minutes, hours, days, months and days of the week: a longer one leads nowhere either. */
const LONGEST_STEPS = [60, 24, 31, 12, 7];

function withShortSteps(schedule: string): string {
  if (!schedule.includes('/')) return schedule;
  const fields = schedule.split(/\s+/);
  const shorten = (field: string, index: number): string =>
    field.replace(/\/(\d+)/g, (_, step: string) => `/${Math.min(Number(step), LONGEST_STEPS[index] ?? 1)}`);
  return fields.map(shorten).join(' ');
}

/** Relative to the last time, in whole seconds. */
function everySchedule(duration: string): Schedule {
  let periodMs = 0;
  for (const [, number, unit = ''] of duration.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy))
    periodMs += Number(number) * (UNITS_MS[unit] ?? 0);
  const wholeMs = Math.max(Math.floor(periodMs / 1000), 1) * 1000;
  return { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + wholeMs };
}

/** RFC 3339 with the offset of the time zone. */
export function inTimeZone(epochMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', timeZoneName: 'longOffset' },
    ...{
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    },
  }).formatToParts(epochMs);
  const part = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((each) => each.type === type)?.value ?? '';
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  const offset = /[1-9]/.test(part('timeZoneName')) ? part('timeZoneName').replace('GMT', '') : 'Z';
  return `${date}T${part('hour')}:${part('minute')}:${part('second')}${offset}`;
}
