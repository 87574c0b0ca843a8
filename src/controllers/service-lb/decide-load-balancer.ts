import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { Service } from '@rollkeeper/runtime';
import { familyOf, freeAddress, isSameAddress } from './balanced-addresses.js';

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
