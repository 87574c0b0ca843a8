/** A part of a layout: what it is called there, and what it must look like. */
interface Part {
  readonly layout: string;
  readonly form: RegExp;
  /** The name of a number for messages, and its least and greatest value. */
  readonly range?: readonly [name: string, least: number, greatest: number];
}

const DIGITS = /^\d\d/;
const part = (layout: string): Part => ({
  layout,
  form: new RegExp(`^${layout}`),
});
const number = (layout: string, name: string, least: number, greatest: number): Part => ({
  layout,
  form: DIGITS,
  range: [name, least, greatest],
});

const TO_MINUTES: readonly Part[] = [
  { layout: '2006', form: /^\d{4}/ },
  part('-'),
  number('01', 'month', 1, 12),
  part('-'),
  // The greatest depends on the month, and is looked at last.
  { layout: '02', form: DIGITS },
  part('T'),
  number('15', 'hour', 0, 23),
  part(':'),
  number('04', 'minute', 0, 59),
  part(':'),
];
const SECONDS = number('05', 'second', 0, 59);
/** Read whether a layout has it or not. */
const FRACTION = /^[.,]\d+/;
const ZONE: Part = { layout: 'Z07:00', form: /^(?:Z|[+-]\d\d:\d\d)/ };

const TIME: readonly Part[] = [...TO_MINUTES, SECONDS, { layout: '', form: /^(?:[.,]\d+)?/ }, ZONE];
const MICRO_TIME: readonly Part[] = [...TO_MINUTES, SECONDS, { layout: '.000000', form: /^[.,]\d{6}/ }, ZONE];

type Read = { readonly ms: number; readonly fraction: string } | { readonly problem: string };

/**
 * `metav1.Time`: RFC 3339 in UTC with whole seconds.
 * @returns undefined when `text` is no RFC 3339 time
 */
export function canonicalTime(text: string): string | undefined {
  // Every month has the first 28 days.
  if (IS_CANONICAL.test(text) && (text.slice(8, 10) <= '28' || isDay(text))) return text;
  const read = readTime(text, TIME);
  return 'problem' in read ? undefined : `${new Date(read.ms).toISOString().slice(0, 19)}Z`;
}

const IS_CANONICAL = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** `metav1.MicroTime`: with six digits after the second, no more and no fewer. */
export function canonicalMicroTime(text: string): string | undefined {
  const read = readTime(text, MICRO_TIME);
  if ('problem' in read) return undefined;
  return `${new Date(read.ms).toISOString().slice(0, 19)}.${read.fraction}Z`;
}

/** Go's error for a text that is no time. Source: `Parse` in Go's package time. */
export function timeSyntax(text: string, isMicro: boolean): string {
  const read = readTime(text, isMicro ? MICRO_TIME : TIME);
  return 'problem' in read ? read.problem : '';
}

function readTime(text: string, parts: readonly Part[]): Read {
  const fail = (reason: string): Read => ({ problem: `parsing time ${quoted(text)}${reason}` });
  let rest = text;
  let fraction = '';
  for (const { form, layout, range } of parts) {
    const [found] = form.exec(rest) ?? [];
    if (found === undefined) {
      const whole = parts.map((each) => each.layout).join('');
      return fail(` as ${quoted(whole)}: cannot parse ${quoted(rest)} as ${quoted(layout)}`);
    }
    if (range && !isBetween(Number(found), range)) return fail(`: ${range[0]} out of range`);
    if (FRACTION.test(found)) fraction = found.slice(1);
    rest = rest.slice(found.length);
  }
  if (rest !== '') return fail(`: extra text: ${quoted(rest)}`);
  if (!isDay(text)) return fail(': day out of range');
  const zone = /[+-](\d\d):(\d\d)$/.exec(text);
  if (zone && Number(zone[1]) > 24) return fail(': time zone offset hour out of range');
  if (zone && Number(zone[2]) > 60) return fail(': time zone offset minute out of range');
  return { ms: msOf(text), fraction };
}

function isBetween(value: number, [, least, greatest]: NonNullable<Part['range']>): boolean {
  return value >= least && value <= greatest;
}

/** Whether the month has the day. */
function isDay(text: string): boolean {
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number) as [
    number,
    number,
    number,
  ];
  return day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** Go takes offsets of up to 24:60. */
function msOf(text: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? [];
  const offsetMinutes = sign === undefined ? 0 : Number(hours) * 60 + Number(minutes);
  return Date.parse(`${text.slice(0, 19)}Z`) - (sign === '-' ? -1 : 1) * offsetMinutes * 60_000;
}

/** As Go's package time quotes: what is not ASCII byte by byte. */
function quoted(text: string): string {
  let shown = '';
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    if (byte >= 0x80 || byte < 0x20) shown += `\\x${byte.toString(16).padStart(2, '0')}`;
    else shown += char === '"' || char === '\\' ? `\\${char}` : char;
  }
  return `"${shown}"`;
}
