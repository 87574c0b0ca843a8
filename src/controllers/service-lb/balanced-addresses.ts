import { BlockList, isIPv6 } from 'node:net';

type IpFamily = 'IPv4' | 'IPv6';

/**
 * The documentation ranges (RFC 5737, RFC 3849): packets to them are never routed to a real network. Those of IPv4 have
 * 762 addresses together.
 */
const RANGES: Readonly<Record<IpFamily, readonly string[]>> = {
  IPv4: ['198.51.100.', '203.0.113.', '192.0.2.'],
  IPv6: ['2001:db8::'],
};
/** The last address of each range: `.1` to `.254`, and `::1` to `::ffff`. */
const LAST: Readonly<Record<IpFamily, number>> = { IPv4: 254, IPv6: 0xffff };

/** The first unused address; undefined if all are taken. */
export function freeAddress(family: IpFamily, taken: ReadonlySet<string>): string | undefined {
  for (const start of RANGES[family])
    for (let number = 1; number <= LAST[family]; number++) {
      const address = `${start}${number.toString(family === 'IPv4' ? 10 : 16)}`;
      if (!taken.has(address)) return address;
    }
  return undefined;
}

/** Whether both texts are the same address. */
export function isSameAddress(one: string, other: string): boolean {
  if (one === other) return true;
  if (!isIPv6(one) || !isIPv6(other)) return false;
  const list = new BlockList();
  list.addAddress(one, 'ipv6');
  return list.check(other, 'ipv6');
}

export function familyOf(address: string): IpFamily {
  return isIPv6(address) ? 'IPv6' : 'IPv4';
}
