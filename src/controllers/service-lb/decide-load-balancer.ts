import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { Service } from '@rollkeeper/runtime';
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

function familyOf(address: string): IpFamily {
  return isIPv6(address) ? 'IPv6' : 'IPv4';
}

type ReadableService = DeepReadonly<Service>;

/** Finalizer: keeps a Service until its load balancer is deleted. */
export const CLEANUP_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

type LoadBalancerDecision =
  /** Give it these addresses, the first of each family. */
  | { readonly action: 'ensure'; readonly addresses: readonly string[] }
  | { readonly action: 'release' }
  | { readonly action: 'fail'; readonly why: string }
  | { readonly action: 'nothing' };

/**
 * The action of the simulated cloud for a Service. Source: `syncLoadBalancerIfNeeded` in
 * k8s.io/cloud-provider/controllers/service.
 * @param taken the addresses of other Services
 */
export function decideLoadBalancer(
  service: ReadableService,
  taken: ReadonlySet<string>,
): LoadBalancerDecision {
  const { deletionTimestamp, finalizers = [] } = service.metadata;
  const isOurs = finalizers.includes(CLEANUP_FINALIZER);
  if (deletionTimestamp !== undefined || !wantsLoadBalancer(service))
    return { action: isOurs ? 'release' : 'nothing' };
  const wanted = addressesFor(service, taken);
  if ('why' in wanted) return { action: 'fail', why: wanted.why };
  const isSame = sameAddresses(addressesOf(service), wanted.addresses);
  return isOurs && isSame ? { action: 'nothing' } : { action: 'ensure', addresses: wanted.addresses };
}

/** Other implementations' load balancers have a class. */
export function wantsLoadBalancer({ spec }: ReadableService): boolean {
  return spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;
}

/** The assigned addresses of a Service. */
export function addressesOf({ status }: ReadableService): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
}

/** Keeps existing addresses that are still requested. */
function addressesFor(
  service: ReadableService,
  taken: ReadonlySet<string>,
): { readonly addresses: readonly string[] } | { readonly why: string } {
  const { ipFamilies = ['IPv4'], loadBalancerIP = '' } = service.spec;
  const has = addressesOf(service);
  const addresses: string[] = [];
  for (const family of ipFamilies.filter((each) => each !== '')) {
    if (loadBalancerIP !== '' && familyOf(loadBalancerIP) === family) {
      if ([...taken].some((address) => isSameAddress(address, loadBalancerIP)))
        return { why: `${loadBalancerIP} is the address of another Service` };
      addresses.push(loadBalancerIP);
      continue;
    }
    const kept = has.find((address) => familyOf(address) === family && !taken.has(address));
    const chosen = kept ?? freeAddress(family, taken);
    if (chosen === undefined) return { why: `all ${family} addresses of the simulated cloud are taken` };
    addresses.push(chosen);
  }
  return { addresses };
}

function sameAddresses(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((address, index) => address === others[index]);
}
