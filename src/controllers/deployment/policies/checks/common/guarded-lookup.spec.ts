import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { guardedLookup } from './guarded-lookup.js';

interface Outcome {
  readonly error: string | undefined;
  readonly address: string | LookupAddress[];
}

function lookUp(hostname: string, all: boolean, ...addresses: readonly string[]): Outcome {
  let outcome: Outcome | undefined;
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  guardedLookup((_hostname, callback) => callback(null, found))(hostname, { all }, (error, address) => {
    outcome = { error: error?.message, address };
  });
  if (!outcome) throw new Error('the lookup did not end');
  return outcome;
}

describe('the lookup of a host that users choose', () => {
  it.each(['10.1.2.3', '192.168.0.1', '93.184.216.34', '2001:db8::1'])('finds %s', (address) => {
    expect(lookUp('metrics.example.com', false, address)).toEqual({ error: undefined, address });
  });

  it.each([
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '169.254.169.254', '::1', '::', 'fe80::1', 'fe80::1%eth0'],
    ...['::ffff:127.0.0.1', '::ffff:169.254.169.254', 'fd00:ec2::254'],
    ...['fd20:ce::254', '100.100.100.200', '::ffff:100.100.100.200'],
  ])('refuses a name that resolves to %s', (address) => {
    for (const all of [true, false])
      expect(lookUp('metrics.example.com', all, address).error).toContain(
        `metrics.example.com resolves to ${address}`,
      );
  });

  it('refuses a name of which only one address is refused', () => {
    expect(lookUp('metrics.example.com', true, '10.1.2.3', '127.0.0.1').error).toContain('127.0.0.1');
  });

  it('gives all addresses where all are asked for', () => {
    const found = [
      { address: '10.1.2.3', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ];
    expect(lookUp('metrics.example.com', true, '10.1.2.3', '2001:db8::1').address).toEqual(found);
  });

  it.each(['localhost', 'LOCALHOST', 'prometheus.localhost', 'localhost.'])(
    'finds this machine by %s',
    (name) => {
      expect(lookUp(name, false, '127.0.0.1').address).toBe('127.0.0.1');
    },
  );

  it('takes no other name for the machine’s own', () => {
    for (const name of ['localhost.example.com', 'notlocalhost', 'localhost.evil'])
      expect(lookUp(name, false, '127.0.0.1').error).toBeDefined();
  });

  it('passes on why a name cannot be resolved', () => {
    let shown: Error | null = null;
    guardedLookup((_hostname, callback) => callback(new Error('ENOTFOUND'), []))('x.example', {}, (error) => {
      shown = error;
    });
    expect(shown).toEqual(new Error('ENOTFOUND'));
  });
});
