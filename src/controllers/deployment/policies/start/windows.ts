/** When a rollout may begin: some days of the week, from one time of day to another, in a time zone. */
export interface RolloutWindow {
  /** 0: Sunday. The days on which it opens. */
  readonly days: ReadonlySet<number>;
  /** Minutes after midnight. One that ends before it begins ends on the next day. */
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
}

export type ParsedWindows = { readonly windows: readonly RolloutWindow[] } | { readonly problem: string };

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const WINDOW = /^(?:([A-Za-z,-]+)\s+)?(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})(?:\s+(\S+))?$/;

/** `Mon-Thu 09:00-16:00 Europe/Berlin`; several with `;` between. Without days every day, without a zone UTC. */
export function parseWindows(text: string): ParsedWindows {
  const windows: RolloutWindow[] = [];
  for (const word of text.split(';').map((part) => part.trim())) {
    if (word === '') continue;
    const parsed = parseWindow(word);
    if (typeof parsed === 'string') return { problem: `"${word}" ${parsed}` };
    windows.push(parsed);
  }
  return { windows };
}

function parseWindow(word: string): RolloutWindow | string {
  const match = WINDOW.exec(word);
  if (!match) return 'is not of the form "Mon-Thu 09:00-16:00 Europe/Berlin"';
  const [, dayText, fromHour, fromMinute, toHour, toMinute, timeZone = 'UTC'] = match;
  const days = parseDays(dayText ?? 'Sun-Sat');
  if (!days) return `names a day that is not one of ${DAYS.join(', ')}`;
  const from = minutesOf(fromHour, fromMinute);
  const to = minutesOf(toHour, toMinute);
  if (from === undefined || to === undefined || from === DAY_MINUTES || from === to)
    return 'has a time outside 00:00 to 24:00, begins at 24:00, or begins and ends at the same time';
  if (!isTimeZone(timeZone)) return `names a time zone that is not known, "${timeZone}"`;
  return { days, from, to, timeZone };
}

function parseDays(text: string): ReadonlySet<number> | undefined {
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const ends = part
      .split('-')
      .map((name) => DAYS.findIndex((day) => day.toLowerCase() === name.toLowerCase()));
    const [first = -1, last = first] = ends;
    if (ends.length > 2 || first < 0 || last < 0) return undefined;
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return days;
}

function minutesOf(hour = '', minute = ''): number | undefined {
  const minutes = Number(hour) * 60 + Number(minute);
  return Number(minute) < 60 && minutes <= DAY_MINUTES ? minutes : undefined;
}

function isTimeZone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Whether one of the windows is open. */
export function isOpen(windows: readonly RolloutWindow[], nowMs: number): boolean {
  return windows.some((window) => isWithin(window, nowMs));
}

/**
 * When the next of them opens, epoch milliseconds, where none is open now. Within eight days: each opens once in a week, and an
 * opening that a change of the clocks leaves out comes a week later.
 */
export function nextOpening(windows: readonly RolloutWindow[], nowMs: number): number | undefined {
  const openings = windows.flatMap((window) =>
    Array.from({ length: 15 }, (_, day) => openingAround(window, nowMs + day * DAY_MS)),
  );
  const later = openings.filter((at): at is number => at !== undefined && at > nowMs);
  return later.length === 0 ? undefined : Math.min(...later);
}

function isWithin({ days, from, timeZone, to }: RolloutWindow, nowMs: number): boolean {
  const { day, minutes } = localTime(timeZone, nowMs);
  if (from < to) return days.has(day) && minutes >= from && minutes < to;
  const dayBefore = (day + 6) % 7;
  return (days.has(day) && minutes >= from) || (days.has(dayBefore) && minutes < to);
}

/** The opening on the local day of an instant, if the window opens on it. */
function openingAround(window: RolloutWindow, instantMs: number): number | undefined {
  const { day, minutes } = localTime(window.timeZone, instantMs);
  if (!window.days.has(day)) return undefined;
  const guess = startOfMinute(instantMs) + (window.from - minutes) * MINUTE_MS;
  // The clocks may have changed in between.
  const drift = ((window.from - localTime(window.timeZone, guess).minutes + 2160) % DAY_MINUTES) - 720;
  const at = guess + drift * MINUTE_MS;
  return isWithin(window, at) ? at : undefined;
}

function startOfMinute(ms: number): number {
  return ms - (ms % MINUTE_MS);
}

interface LocalTime {
  readonly day: number;
  /** Since midnight. */
  readonly minutes: number;
}

function localTime(timeZone: string, ms: number): LocalTime {
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  return {
    day: DAYS.indexOf(parts.get('weekday') ?? ''),
    minutes: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  };
}

/** Making one costs far more than using it, and there are few time zones. */
const formatters = new Map<string, Intl.DateTimeFormat>();
/** Time zones may be written in any case, so there are many names for them. */
const MOST_FORMATTERS = 500;

/** @throws RangeError for a zone that is not known */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  const options = {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  const made = new Intl.DateTimeFormat('en-US', options);
  if (formatters.size >= MOST_FORMATTERS) formatters.clear();
  formatters.set(timeZone, made);
  return made;
}
