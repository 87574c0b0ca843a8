import { describe, expect, it } from 'vitest';
import { advertisedAddress } from './api-endpoints.js';

const of = (address: string, family: 'IPv4' | 'IPv6', internal = false) => ({
  address,
  family,
  internal,
  netmask: '',
  mac: '',
  cidr: null,
  ...(family === 'IPv6' ? { scopeid: 0 as const } : {}),
});
const INTERFACES = {
  lo: [of('127.0.0.1', 'IPv4', true), of('::1', 'IPv6', true)],
  eth0: [of('fe80::1', 'IPv6'), of('2001:db8::5', 'IPv6'), of('10.1.2.3', 'IPv4')],
} as const;

describe('the address of the API server in the endpoints of its Service', () => {
  it.each([
    ['https://10.9.8.7:6443', '10.9.8.7'],
    ['https://[2001:db8::7]:6443', '2001:db8::7'],
    ['https://127.0.0.1:6443', '10.1.2.3'],
    ['https://0.0.0.0:6443', '10.1.2.3'],
    ['https://[::]:6443', '10.1.2.3'],
    ['https://localhost:6443', '10.1.2.3'],
  ])('is never loopback: %s has %s', (url, address) => {
    expect(advertisedAddress(url, INTERFACES as never)).toBe(address);
  });

  it('is one of version 6 where there is no other, and none without a network', () => {
    const { eth0, lo } = INTERFACES;
    expect(advertisedAddress('https://127.0.0.1:1', { eth0: eth0.slice(0, 2) } as never)).toBe('2001:db8::5');
    expect(advertisedAddress('https://127.0.0.1:1', { lo } as never)).toBeUndefined();
  });
});
