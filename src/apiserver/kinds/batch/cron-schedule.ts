import { Cron } from 'croner';

const OK: readonly string[] = [];
const EVERY = /^@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/;
const NAMED = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
/** What `croner` understands and Kubernetes' parser does not: last and nearest days, and a Sunday that is a 7. */
const FOREIGN = /[LW#]|(^|[,-])7([,/-]|$)/i;
const DAY_NAMES = /sun|mon|tue|wed|thu|fri|sat/gi;

/** A schedule in cron's notation, of five fields. Source: validateScheduleFormat, and robfig/cron's ParseStandard. */
export function checkSchedule(schedule: string): readonly string[] {
  if (schedule.includes('TZ')) return ['cannot use TZ or CRON_TZ in schedule, use timeZone field instead'];
  const text = schedule.trim();
  if (NAMED.test(text) || EVERY.test(text)) return OK;
  if (text.startsWith('@')) return [`unrecognized descriptor: ${text}`];
  const fields = text.split(/\s+/);
  if (fields.length !== 5)
    return [`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`];
  const [, , dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  const days = dayOfWeek.replace(DAY_NAMES, '1');
  if (FOREIGN.test(days) || /[LW#]/i.test(dayOfMonth) || /[W#]/i.test(month))
    return [`failed to parse the schedule: ${text}`];
  try {
    new Cron(text, { paused: true, mode: '5-part' });
    return OK;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** A name of the time zone database. Source: validateTimeZone. */
export function checkTimeZone(name: string): readonly string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  if (name.toLowerCase() === 'local')
    return ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'];
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return OK;
  } catch {
    return [`unknown time zone ${name}`];
  }
}
