import { checkDns1123Label, checkDns1123Subdomain, MAX_LABEL_LENGTH } from '@rollkeeper/machinery/kubernetes';
import { isIP, isIPv6 } from 'node:net';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const LETTERS = String.raw`a-zA-Z0-9\p{S}\p{L}`;
const HOST = new RegExp(`^[${LETTERS}](?:-?[${LETTERS}]{0,62})?$`, 'u');
const HOST_LABEL = new RegExp(`^[${LETTERS}](?:[${LETTERS}-]{0,61}[${LETTERS}])?$`, 'u');
const TOP_LABEL = /^[a-zA-Z\p{L}]{2,63}$/u;
const DURATION =
  /^[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)(((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
/** Numbers are read from their first digit on, so that a long one is read once and not again from each of its digits. */
const WORDED_DURATION =
  /(?<!\d)\d+\s*(?:ns(?![a-zµ])|nano|(?:us|µs)(?![a-zµ])|micro|ms(?![a-zµ])|milli|s(?![a-zµ])|sec|m(?![a-zµ])|min|h(?![a-zµ])|hr(?![a-zµ])|hour|d(?![a-zµ])|day|wk?(?![a-zµ])|week)/i;
const RGB = /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/;
const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const time = new Date(Date.UTC(2000, month - 1, day));
  time.setUTCFullYear(year, month - 1, day);
  return time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const [, hours, minutes, seconds] =
    /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/.exec(time)?.map(Number) ?? [];
  return isDate(date) && hours !== undefined && hours <= 23 && minutes! <= 59 && seconds! <= 59;
}

function isHostname(text: string): boolean {
  const labels = text.split('.');
  if (Buffer.byteLength(text) > 255 || labels.some((label) => Buffer.byteLength(label) > MAX_LABEL_LENGTH))
    return false;
  if (labels.length === 1) return HOST.test(text);
  return TOP_LABEL.test(labels.at(-1)!) && labels.slice(0, -1).every((label) => HOST_LABEL.test(label));
}

/** Zeros before the numbers are left out, as Go did once. */
function withoutZeros(text: string): string {
  return text.replaceAll(/(?<![\da-fA-F:])0+(?=\d)/g, '');
}

function isMac(text: string): boolean {
  const groups = text.includes('.') ? text.split('.') : text.split(text.includes(':') ? ':' : '-');
  const digits = text.includes('.') ? 4 : 2;
  const bytes = (groups.length * digits) / 2;
  return (
    [6, 8, 20].includes(bytes) &&
    groups.every((group) => group.length === digits && /^[\da-fA-F]+$/.test(group))
  );
}

function isRgb(text: string): boolean {
  const [, ...parts] = RGB.exec(text) ?? [];
  return parts.length === 3 && parts.every((part) => Number(part) <= 255 && String(Number(part)) === part);
}

function digitsOf(text: string): number[] {
  return [...text].map((digit) => (digit === 'X' ? 10 : Number(digit)));
}

function isIsbn10(text: string): boolean {
  const plain = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(plain)) return false;
  return digitsOf(plain).reduce((sum, digit, index) => sum + (10 - index) * digit, 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const plain = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{13}$/.test(plain)) return false;
  return digitsOf(plain).reduce((sum, digit, index) => sum + (index % 2 === 0 ? 1 : 3) * digit, 0) % 10 === 0;
}

function isCard(text: string): boolean {
  const plain = text.replaceAll(/\D/g, '');
  if (!CARD.test(plain)) return false;
  const sum = digitsOf(plain)
    .reverse()
    .reduce((total, digit, index) => {
      const value = index % 2 === 0 ? digit : 2 * digit;
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

const CHECKS: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[\da-fA-F]{24}$/),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  cidr: (text) => {
    const [address = '', bits = '', ...rest] = text.split('/');
    const size = { 0: -1, 4: 32, 6: 128 }[isIP(withoutZeros(address))] ?? -1;
    return rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= size;
  },
  creditcard: isCard,
  date: isDate,
  'date-time': isDateTime,
  datetime: isDateTime,
  duration: (text) => DURATION.test(text) || WORDED_DURATION.test(text) || /^[-+]?0$/.test(text),
  email: matches(/^(?:[^<>@]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: isHostname,
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  'k8s-long-name': (text) => checkDns1123Subdomain(text).length === 0,
  'k8s-short-name': (text) => checkDns1123Label(text).length === 0,
  ipv4: (text) => text.includes('.') && !text.includes('%') && isIP(withoutZeros(text)) !== 0,
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  mac: isMac,
  rgbcolor: isRgb,
  ssn: matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  uuid: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
};

/** By the type of what has them, without dashes. Source: pkg/apiserver/validation/formats.go of apiextensions-apiserver. */
const OF_TEXTS: ReadonlySet<string> = new Set(
  [
    'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn',
    'hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname',
  ]
    .join(' ')
    .split(' '),
);

const OF_NUMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  integer: new Set(['int32', 'int64']),
  number: new Set(['float', 'double']),
};

/** Whether a format judges values of a type, or of any if there is none: the server ignores all others. */
export function isSupportedFormat(format: string, type: string): boolean {
  if (type === '' || type === 'string') return OF_TEXTS.has(format.replaceAll('-', ''));
  return Object.hasOwn(OF_NUMBERS, type) && OF_NUMBERS[type]!.has(format);
}

/** Whether a text has a format; formats that the genuine server does not know judge nothing. Source: kube-openapi/pkg/validation/strfmt. */
export function hasFormat(text: string, format: string): boolean {
  return !Object.hasOwn(CHECKS, format) || CHECKS[format]!(text);
}
