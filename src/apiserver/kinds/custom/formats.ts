import {
  checkDns1123Label,
  checkDns1123Subdomain,
  DNS_1123_LABEL,
  MAX_LABEL_LENGTH,
} from '@rollkeeper/machinery/kubernetes';
import { isIP, isIPv4, isIPv6 } from 'node:net';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const HOST_LABEL = new RegExp(`^${DNS_1123_LABEL}$`, 'i');
const DURATION =
  /^[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)(((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
const WORDED_DURATION =
  /^\d+\s*(ns|nano|us|µs|micro|ms|milli|s|sec|second|m|min|minute|h|hr|hour|d|day|w|wk|week)s?$/;

const CHECKS: Readonly<Record<string, Check>> = {
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  cidr: (text) => {
    const [address = '', bits = '', ...rest] = text.split('/');
    const size = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= size;
  },
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  datetime: (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => DURATION.test(text) || WORDED_DURATION.test(text) || text === '0',
  email: matches(/^[^\s@]+@[^\s@]+$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: (text) =>
    text.length <= 255 &&
    text
      .replace(/(?<=.)\.$/, '')
      .split('.')
      .every((label) => label.length <= MAX_LABEL_LENGTH && HOST_LABEL.test(label)),
  'k8s-long-name': (text) => checkDns1123Subdomain(text).length === 0,
  'k8s-short-name': (text) => checkDns1123Label(text).length === 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  mac: matches(/^([0-9a-fA-F]{2}[:-]){5}([0-9a-fA-F]{2})$|^([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$/),
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
