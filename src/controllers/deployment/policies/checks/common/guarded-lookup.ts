import { lookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { BlockList, isIPv6 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { NoAnswerError } from './no-answer-error.js';

/**
 * Addresses that mean this machine, or its cloud: there, anything that can send a request reads credentials of the
 * machine. No name leads to them; a host that is written as such an address does.
 */
const OWN_ADDRESSES = new BlockList();
OWN_ADDRESSES.addSubnet('0.0.0.0', 8);
OWN_ADDRESSES.addSubnet('127.0.0.0', 8);
OWN_ADDRESSES.addSubnet('169.254.0.0', 16);
OWN_ADDRESSES.addAddress('::', 'ipv6');
OWN_ADDRESSES.addAddress('::1', 'ipv6');
OWN_ADDRESSES.addSubnet('fe80::', 10, 'ipv6');
OWN_ADDRESSES.addAddress('fd00:ec2::254', 'ipv6');
// Compute Engine over IPv6, and Alibaba Cloud.
OWN_ADDRESSES.addAddress('fd20:ce::254', 'ipv6');
OWN_ADDRESSES.addAddress('100.100.100.200');

/** The names that mean this machine by themselves. */
const LOCALHOST = /^(?:[^.]+\.)*localhost\.?$/i;

/** Resolves a name to all its addresses. */
export type Resolve = (
  hostname: string,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

const bySystem: Resolve = (hostname, callback) =>
  lookup(hostname, { all: true }, (error, addresses) => callback(error, addresses));

/**
 * The lookup of a connection. The connection goes to the very addresses that are checked here, so that a name which
 * resolves to another address a moment later leads nowhere else. One address that is refused refuses the name.
 */
export function guardedLookup(resolve: Resolve = bySystem): LookupFunction {
  return (hostname, { all }, callback) =>
    resolve(hostname, (error, addresses) => {
      if (error) return callback(error, '');
      const refused = LOCALHOST.test(hostname) ? undefined : addresses.find(isOwnAddress);
      if (refused) return callback(new NoAnswerError(refusal(hostname, refused)), '');
      const [first] = addresses;
      if (all === true || !first) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
}

export function isOwnAddress({ address }: Pick<LookupAddress, 'address'>): boolean {
  const [bare = ''] = address.split('%', 1);
  return OWN_ADDRESSES.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4');
}

function refusal(hostname: string, { address }: LookupAddress): string {
  return `${hostname} resolves to ${address}, an address of the machine itself, which no name may lead to`;
}
