import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { listeningAddress } from './listening.js';

it('names the address and port of a server', () => {
  const address: AddressInfo = { address: '127.0.0.1', family: 'IPv4', port: 8080 };
  expect(listeningAddress({ address: () => address })).toBe(address);
});

it.each([null, '/run/socket'])('refuses a server without a port: %s', (address) => {
  expect(() => listeningAddress({ address: () => address })).toThrow('does not listen on a port');
});
