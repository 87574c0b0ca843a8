import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { SeededRandom } from './clock/index.js';
import { freePort, listeningAddress } from './listening.js';

it('names the address and port of a server', () => {
  const address: AddressInfo = { address: '127.0.0.1', family: 'IPv4', port: 8080 };
  expect(listeningAddress({ address: () => address })).toBe(address);
});

it.each([null, '/run/socket'])('refuses a server without a port: %s', (address) => {
  expect(() => listeningAddress({ address: () => address })).toThrow('does not listen on a port');
});

it('chooses a port that no outgoing connection gets, and tries another one if it is in use', async () => {
  const tried: number[] = [];
  const port = await freePort(new SeededRandom(1), async (each) => tried.push(each) === 3);
  expect(port).toBe(tried[2]);
  expect(new Set(tried).size).toBe(3);
  for (const each of tried) {
    expect(each).toBeGreaterThanOrEqual(20_000);
    expect(each).toBeLessThan(32_768);
  }
});

it('gives no port twice, also while nothing listens on the first', async () => {
  const isFree = async (): Promise<boolean> => true;
  const one = await freePort(new SeededRandom(2), isFree);
  expect(await freePort(new SeededRandom(2), isFree)).not.toBe(one);
});

it('says that there is no free port', async () => {
  await expect(freePort(new SeededRandom(1), async () => false)).rejects.toThrow('no free port between');
});
