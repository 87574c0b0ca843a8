import { goQuote } from '@rollkeeper/machinery/kubernetes';
import { Cron } from 'croner';
import { TIME_ZONES } from './time-zones.js';

const OK: readonly string[] = [];
const NAMED = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const EVERY = '@every ';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** Minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];

/** A schedule that cannot be read; `message` in the words of robfig/cron. */
class ScheduleError extends Error {}

/** A schedule in cron's notation, of five fields. Source: validateScheduleFormat, and robfig/cron's ParseStandard. */
export function checkSchedule(schedule: string): readonly string[] {
  if (schedule.includes('TZ')) return ['cannot use TZ or CRON_TZ in schedule, use timeZone field instead'];
  try {
    parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return [error.message];
  }
  return schedule.startsWith('@') ? OK : checkReadable(schedule);
}

/** A schedule that this runtime cannot follow would never run. */
function checkReadable(schedule: string): readonly string[] {
  try {
    new Cron(schedule.trim(), { paused: true, mode: '5-part' });
    return OK;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function parseSchedule(schedule: string): void {
  if (schedule.startsWith('@')) return parseDescriptor(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length)
    throw new ScheduleError(
      `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`,
    );
  FIELDS.forEach((bounds, index) => {
    for (const range of fields[index]!.split(',')) if (range !== '') parseRange(range, bounds);
  });
}

function parseDescriptor(text: string): void {
  if (NAMED.test(text)) return;
  if (!text.startsWith(EVERY)) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  const problem = durationProblem(text.slice(EVERY.length));
  if (problem !== undefined) throw new ScheduleError(`failed to parse duration ${text}: ${problem}`);
}

const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const NUMBER = /^(?:\d+(?:\.\d*)?|\.\d+)/;

/** Why Go's time package cannot read a duration. */
function durationProblem(text: string): string | undefined {
  if (DURATION.test(text) || /^[+-]?0$/.test(text)) return undefined;
  let rest = text.replace(/^[+-]/, '');
  while (rest !== '') {
    const [number] = NUMBER.exec(rest) ?? [];
    if (number === undefined) break;
    rest = rest.slice(number.length);
    const [unit = ''] = /^[^.\d]*/.exec(rest) ?? [];
    if (unit === '') return `time: missing unit in duration ${goQuote(text)}`;
    if (!/^(?:ns|us|µs|μs|ms|s|m|h)$/.test(unit))
      return `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`;
    rest = rest.slice(unit.length);
  }
  return `time: invalid duration ${goQuote(text)}`;
}

/** `*`, `5`, `1-5`, `*` or a range with a step. */
function parseRange(text: string, bounds: Bounds): void {
  const [range = '', ...steps] = text.split('/');
  const [low = '', ...highs] = range.split('-');
  const isAny = low === '*' || low === '?';
  const start = isAny ? bounds.min : parseNumber(low, bounds);
  let end = isAny ? bounds.max : start;
  if (!isAny && highs.length > 1) throw new ScheduleError(`too many hyphens: ${text}`);
  if (!isAny && highs.length === 1) end = parseNumber(highs[0]!, bounds);
  if (steps.length > 1) throw new ScheduleError(`too many slashes: ${text}`);
  const step = steps.length === 1 ? parseNumber(steps[0]!, {}) : 1;
  // `5/15` is from 5 to the end.
  if (steps.length === 1 && highs.length === 0) end = bounds.max;
  if (start < bounds.min)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`);
  if (end > bounds.max)
    throw new ScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${text}`);
  if (start > end)
    throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

function parseNumber(text: string, { min = 0, names }: Partial<Bounds>): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  if (index >= 0) return index + min;
  if (!/^[+-]?\d+$/.test(text))
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`,
    );
  const number = Number(text);
  if (!Number.isSafeInteger(number))
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: value out of range`,
    );
  if (number < 0) throw new ScheduleError(`negative number (${number}) not allowed: ${text}`);
  return number;
}

const ZONES: ReadonlySet<string> = new Set(
  Object.entries(TIME_ZONES).flatMap(([region, names]) =>
    names.split(' ').map((name) => (region === '' ? name : `${region}/${name}`)),
  ),
);

/** A name of the time zone database, which is a file on the genuine server's machine. Source: validateTimeZone. */
export function checkTimeZone(name: string): readonly string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  if (name.toLowerCase() === 'local')
    return ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'];
  return ZONES.has(name) && isKnown(name) ? OK : [`unknown time zone ${name}`];
}

function isKnown(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
