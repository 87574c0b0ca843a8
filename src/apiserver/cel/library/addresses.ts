import { isIP } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { register, registerNamespace } from './register.js';

const URL_TYPE = 'kubernetes.URL';
const IP = 'net.IP';
const CIDR = 'net.CIDR';
const BITS = { 4: 32, 6: 128 } as const;

class UrlValue {
  constructor(
    readonly url: URL,
    readonly text: string,
  ) {}
}

/** An address as one number, so that masks are arithmetic. */
class IpValue {
  constructor(
    readonly family: 4 | 6,
    readonly value: bigint,
  ) {}
}

class CidrValue {
  constructor(
    readonly ip: IpValue,
    readonly bits: number,
  ) {}
}

/** Source: apiserver/pkg/cel/library (urls.go, ip.go, cidr.go). */
export function registerAddresses(environment: Environment): void {
  registerUrls(environment);
  registerIps(environment);
  registerCidrs(environment);
}

function registerUrls(environment: Environment): void {
  environment.registerType(URL_TYPE, UrlValue);
  environment.registerOperator(`${URL_TYPE} == ${URL_TYPE}`, (a: UrlValue, b: UrlValue) => a.text === b.text);
  register(environment, {
    [`url(string): ${URL_TYPE}`]: (text: string) => {
      const url = parseUrl(text);
      if (!url)
        throw new EvaluationError(`URL parse error during conversion from string: ${JSON.stringify(text)}`);
      return new UrlValue(url, text);
    },
    'isURL(string): bool': (text: string) => parseUrl(text) !== undefined,
    [`${URL_TYPE}.getScheme(): string`]: ({ url, text }: UrlValue) =>
      text.startsWith('/') ? '' : url.protocol.slice(0, -1),
    [`${URL_TYPE}.getHost(): string`]: (value: UrlValue) => authority(value),
    [`${URL_TYPE}.getHostname(): string`]: (value: UrlValue) =>
      authority(value)
        .replace(/:\d*$/, '')
        .replace(/^\[|\]$/g, ''),
    [`${URL_TYPE}.getPort(): string`]: (value: UrlValue) => /:(\d+)$/.exec(authority(value))?.[1] ?? '',
    [`${URL_TYPE}.getEscapedPath(): string`]: ({ url, text }: UrlValue) =>
      url.pathname === '/' && !/^([^:]*:\/\/[^/]*)?\//.test(text) ? '' : url.pathname,
    [`${URL_TYPE}.getQuery(): map<string, list<string>>`]: ({ url }: UrlValue) => {
      const query = new Map<string, string[]>();
      for (const [key, value] of url.searchParams) query.set(key, [...(query.get(key) ?? []), value]);
      return query;
    },
  });
}

/** Absolute, or the path of one. Source: net/url.ParseRequestURI. */
export function parseUrl(text: string): URL | undefined {
  if (text.startsWith('/')) return URL.parse(text, 'http://none') ?? undefined;
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? (URL.parse(text) ?? undefined) : undefined;
}

/** As written: a port that is the scheme's own one stays. */
function authority({ text }: UrlValue): string {
  const found = /^[^:/]*:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  return found.slice(found.lastIndexOf('@') + 1);
}

function registerIps(environment: Environment): void {
  environment.registerType(IP, IpValue);
  environment.registerOperator(
    `${IP} == ${IP}`,
    (a: IpValue, b: IpValue) => a.family === b.family && a.value === b.value,
  );
  const names = registerNamespace(environment, 'ip');
  register(environment, {
    [`ip(string): ${IP}`]: readIp,
    'isIP(string): bool': (text: string) => parseIp(text) !== undefined,
    [`${names}.isCanonical(string): bool`]: (_ip, text: string) => writeIp(readIp(text)) === text,
    [`string(${IP}): string`]: writeIp,
    [`${IP}.family(): int`]: ({ family }: IpValue) => BigInt(family),
    [`${IP}.isUnspecified(): bool`]: ({ value }: IpValue) => value === 0n,
    [`${IP}.isLoopback(): bool`]: (ip: IpValue) => within(ip, '127.0.0.0/8', '::1/128'),
    [`${IP}.isLinkLocalMulticast(): bool`]: (ip: IpValue) => within(ip, '224.0.0.0/24', 'ff02::/16'),
    [`${IP}.isLinkLocalUnicast(): bool`]: (ip: IpValue) => within(ip, '169.254.0.0/16', 'fe80::/10'),
    [`${IP}.isGlobalUnicast(): bool`]: (ip: IpValue) =>
      ip.value !== 0n &&
      !within(ip, '255.255.255.255/32', '::/128') &&
      !within(ip, '127.0.0.0/8', '::1/128') &&
      !within(ip, '224.0.0.0/4', 'ff00::/8') &&
      !within(ip, '169.254.0.0/16', 'fe80::/10'),
  });
}

function registerCidrs(environment: Environment): void {
  environment.registerType(CIDR, CidrValue);
  environment.registerOperator(
    `${CIDR} == ${CIDR}`,
    (a: CidrValue, b: CidrValue) => writeCidr(a) === writeCidr(b),
  );
  register(environment, {
    [`cidr(string): ${CIDR}`]: readCidr,
    'isCIDR(string): bool': (text: string) => parseCidr(text) !== undefined,
    [`string(${CIDR}): string`]: writeCidr,
    [`${CIDR}.ip(): ${IP}`]: ({ ip }: CidrValue) => ip,
    [`${CIDR}.prefixLength(): int`]: ({ bits }: CidrValue) => BigInt(bits),
    [`${CIDR}.masked(): ${CIDR}`]: ({ ip, bits }: CidrValue) =>
      new CidrValue(new IpValue(ip.family, masked(ip, bits)), bits),
    [`${CIDR}.containsIP(string): bool`]: (cidr: CidrValue, text: string) => contains(cidr, readIp(text)),
    [`${CIDR}.containsIP(${IP}): bool`]: contains,
    [`${CIDR}.containsCIDR(string): bool`]: (cidr: CidrValue, text: string) => encloses(cidr, readCidr(text)),
    [`${CIDR}.containsCIDR(${CIDR}): bool`]: encloses,
  });
}

/** An address of IPv4 within one of IPv6 is refused, as is a zone. */
function parseIp(text: string): IpValue | undefined {
  const family = isIP(text);
  if (family === 4) return new IpValue(4, joined(text.split('.').map(Number), 8n));
  if (family !== 6 || text.includes('%') || text.includes('.')) return undefined;
  const [head = '', tail] = text.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const zeros = new Array<number>(8 - left.length - right.length).fill(0);
  return new IpValue(6, joined([...left, ...zeros, ...right], 16n));
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | BigInt(part), 0n);
}

function readIp(text: string): IpValue {
  const ip = parseIp(text);
  if (!ip)
    throw new EvaluationError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
  return ip;
}

function parseCidr(text: string): CidrValue | undefined {
  const [address = '', bits = '', ...rest] = text.split('/');
  const ip = rest.length === 0 && /^(0|[1-9]\d{0,2})$/.test(bits) ? parseIp(address) : undefined;
  return ip && Number(bits) <= BITS[ip.family] ? new CidrValue(ip, Number(bits)) : undefined;
}

function readCidr(text: string): CidrValue {
  const cidr = parseCidr(text);
  if (!cidr) throw new EvaluationError(`network address parse error during conversion from string: ${text}`);
  return cidr;
}

function masked({ family, value }: IpValue, bits: number): bigint {
  const shift = BigInt(BITS[family] - bits);
  return (value >> shift) << shift;
}

function contains({ ip, bits }: CidrValue, address: IpValue): boolean {
  return ip.family === address.family && masked(ip, bits) === masked(address, bits);
}

function encloses(outer: CidrValue, inner: CidrValue): boolean {
  return outer.bits <= inner.bits && contains(outer, inner.ip);
}

function within(ip: IpValue, ipv4: string, ipv6: string): boolean {
  return contains(readCidr(ip.family === 4 ? ipv4 : ipv6), ip);
}

function writeIp({ family, value }: IpValue): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16),
  );
  // The longest run of zeros is left out, as URLs write hosts.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function writeCidr({ ip, bits }: CidrValue): string {
  return `${writeIp(ip)}/${bits}`;
}
