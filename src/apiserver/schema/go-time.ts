/**
 * Times as Go's `time.Parse` reads them, with the layouts of `metav1.Time` and `metav1.MicroTime`: hours may have one digit, and a
 * fraction may follow a comma.
 */
const WHOLE = ['2006', '-', '01', '-', '02', 'T', '15', ':', '04', ':', '05', 'Z07:00'] as const;
const MICRO = ['2006', '-', '01', '-', '02', 'T', '15', ':', '04', ':', '05', '.000000', 'Z07:00'] as const;

type Element = (typeof MICRO)[number];

/** The words of Go, which never show a part of the object. */
export class TimeSyntaxError extends Error {}

interface Found {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  /** Digits after the second. */
  fraction: string;
  offsetMinutes: number;
}

export interface GoTime {
  readonly ms: number;
  readonly fraction: string;
}

/** @throws TimeSyntaxError */
export function parseGoTime(text: string, isMicro: boolean): GoTime {
  const layout = isMicro ? MICRO : WHOLE;
  const found: Found = {
    ...{ year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 },
    ...{ fraction: '', offsetMinutes: 0 },
  };
  let rest = text;
  for (const element of layout) {
    const after = READERS[element](rest, found, isMicro);
    if (after === undefined)
      throw new TimeSyntaxError(
        `parsing time ${quote(text)} as ${quote(layout.join(''))}: cannot parse ${quote(rest)} as ${quote(element)}`,
      );
    if (typeof after === 'object') throw outOfRange(text, after.outOfRange);
    rest = after;
  }
  if (rest !== '') throw new TimeSyntaxError(`parsing time ${quote(text)}: extra text: ${quote(rest)}`);
  const { year, month, day, hour, minute, second, offsetMinutes, fraction } = found;
  if (day < 1 || day > daysOf(year, month)) throw outOfRange(text, 'day');
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute - offsetMinutes, second, 0);
  return { ms: date.getTime(), fraction };
}

function outOfRange(text: string, what: string): TimeSyntaxError {
  return new TimeSyntaxError(`parsing time ${quote(text)}: ${what} out of range`);
}

function daysOf(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

/** What is left of the text, which number is too large, or that the text is no such element. */
type Read = string | { readonly outOfRange: string } | undefined;

const READERS: Readonly<Record<Element, (text: string, found: Found, isMicro: boolean) => Read>> = {
  '2006': (text, found) => number(text, /^\d{4}/, (year) => (found.year = year)),
  '01': (text, found) => number(text, /^\d\d/, (month) => (found.month = month), 'month', 1, 12),
  '02': (text, found) => number(text, /^\d\d/, (day) => (found.day = day)),
  '15': (text, found) => number(text, /^\d\d?/, (hour) => (found.hour = hour), 'hour', 0, 23),
  '04': (text, found) => number(text, /^\d\d/, (minute) => (found.minute = minute), 'minute', 0, 59),
  '05': readSecond,
  '.000000': (text, found) => {
    const [all, digits = ''] = /^[.,](\d{6})/.exec(text) ?? [];
    if (all === undefined) return undefined;
    found.fraction = digits;
    return text.slice(all.length);
  },
  'Z07:00': readZone,
  '-': (text) => literal(text, '-'),
  T: (text) => literal(text, 'T'),
  ':': (text) => literal(text, ':'),
};

function literal(text: string, expected: string): Read {
  return text.startsWith(expected) ? text.slice(expected.length) : undefined;
}

function number(
  text: string,
  pattern: RegExp,
  take: (value: number) => void,
  what = '',
  least = 0,
  most = 9999,
): Read {
  const [digits] = pattern.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (value < least || value > most) return { outOfRange: what };
  take(value);
  return text.slice(digits.length);
}

/** A fraction may follow the second, also where the layout has none. */
function readSecond(text: string, found: Found, isMicro: boolean): Read {
  const rest = number(text, /^\d\d/, (second) => (found.second = second), 'second', 0, 59);
  if (isMicro || typeof rest !== 'string') return rest;
  const [all, digits = ''] = /^[.,](\d+)/.exec(rest) ?? [];
  if (all === undefined) return rest;
  found.fraction = digits;
  return rest.slice(all.length);
}

function readZone(text: string, found: Found): Read {
  if (text.startsWith('Z')) return text.slice(1);
  const [all, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(text) ?? [];
  if (all === undefined) return undefined;
  if (Number(hours) > 24) return { outOfRange: 'time zone offset hour' };
  if (Number(minutes) > 60) return { outOfRange: 'time zone offset minute' };
  found.offsetMinutes = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  return text.slice(all.length);
}

/** Texts in the quotes of Go's package `time`: what is not ASCII shows byte by byte. */
function quote(text: string): string {
  let shown = '';
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    if (byte < 0x20 || byte >= 0x80) shown += `\\x${byte.toString(16).padStart(2, '0')}`;
    else shown += char === '"' || char === '\\' ? `\\${char}` : char;
  }
  return `"${shown}"`;
}
