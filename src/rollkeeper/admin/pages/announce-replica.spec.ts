import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { reachableUrl } from './announce-replica.js';

const interfaces = {
  lo: [{ address: '127.0.0.1', family: 'IPv4', internal: true }],
  eth0: [
    { address: 'fe80::1', family: 'IPv6', internal: false },
    { address: '10.1.2.3', family: 'IPv4', internal: false },
  ],
} as unknown as NodeJS.Dict<NetworkInterfaceInfo[]>;

describe('the address at which other replicas reach this one', () => {
  it('is where it listens', () => {
    expect(reachableUrl('http://127.0.0.1:81', '127.0.0.1', interfaces)).toBe('http://127.0.0.1:81');
  });

  it('is an address of the machine when it listens on all', () => {
    expect(reachableUrl('http://[::1]:81', '0.0.0.0', interfaces)).toBe('http://10.1.2.3:81');
    expect(reachableUrl('http://[::1]:81', '0.0.0.0', {})).toBe('http://[::1]:81');
  });
});
