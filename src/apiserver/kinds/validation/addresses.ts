import { isIP } from 'node:net';

/** Addresses and networks, in the words of k8s.io/apimachinery/pkg/util/validation. */
const IP_PROBLEM = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const CIDR_PROBLEM = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const OK: readonly string[] = [];

export function checkIp(text: string): readonly string[] {
  if (isIP(text) !== 0) return OK;
  return [isSloppyIp(text) ? 'must not have leading 0s' : IP_PROBLEM];
}

/** Tells whether older releases read a text as an address, and others in another way: `010.0.0.1`. */
export function isSloppyIp(text: string): boolean {
  return isIP(text) !== 0 || isIP(text.split('.').map(withoutZeros).join('.')) === 4;
}

function withoutZeros(part: string): string {
  return part.replace(/^0+(?=\d)/, '');
}

export function checkCidr(text: string): readonly string[] {
  return parseCidr(text) ? OK : [CIDR_PROBLEM];
}

interface Cidr {
  readonly family: 'IPv4' | 'IPv6';
  /** Address of the network as a number, host bits cleared. */
  readonly base: bigint;
  /** Length of the prefix. */
  readonly bits: number;
}

/** @returns undefined for text that is no network */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', bits = '', ...rest] = text.split('/');
  const version = isIP(address);
  const size = version === 4 ? 32 : 128;
  if (version === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > size) return undefined;
  const hostBits = BigInt(size - Number(bits));
  return {
    family: familyOf(address),
    base: (addressNumber(address) >> hostBits) << hostBits,
    bits: Number(bits),
  };
}

/** Whether a network has an address of one of its hosts: `10.0.0.1/8`. */
export function hasHostBits(network: string): boolean {
  const cidr = parseCidr(network);
  return cidr !== undefined && addressNumber(network.split('/')[0] ?? '') !== cidr.base;
}

/** The family of a valid address. */
export function familyOf(address: string): 'IPv4' | 'IPv6' {
  return isIP(address) === 4 ? 'IPv4' : 'IPv6';
}

export function containsAddress(cidr: Cidr, address: string): boolean {
  if (isIP(address) === 0 || familyOf(address) !== cidr.family) return false;
  const hostBits = BigInt((cidr.family === 'IPv4' ? 32 : 128) - cidr.bits);
  return addressNumber(address) >> hostBits === cidr.base >> hostBits;
}

/** Whether the second network lies in the first, and is smaller. */
export function isStrictSubset(outer: Cidr, inner: Cidr): boolean {
  if (outer.family !== inner.family || inner.bits <= outer.bits) return false;
  const hostBits = BigInt((outer.family === 'IPv4' ? 32 : 128) - outer.bits);
  return inner.base >> hostBits === outer.base >> hostBits;
}

/** An IPv4 or IPv6 address as a number. */
export function addressNumber(address: string): bigint {
  if (isIP(address) === 4) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = withoutEmbeddedIpv4(address).split('::');
  const words = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const left = words(head);
  const right = tail === undefined ? [] : words(tail);
  const zeros = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].reduce((sum, word) => sum * 65536n + BigInt(`0x${word}`), 0n);
}

/** `::ffff:10.0.0.1` → `::ffff:a00:1`; zones (`%eth0`) are no part of the number. */
function withoutEmbeddedIpv4(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const match = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  if (!match) return plain;
  const value = addressNumber(match[2] ?? '');
  return `${match[1] ?? ''}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

/** The address with this number, as Kubernetes writes it. */
export function addressText(value: bigint, family: Cidr['family']): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const words = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(16 * (7 - index))) & 0xffffn).toString(16),
  );
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1);
}
