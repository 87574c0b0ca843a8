import { findCondition, transitionTime } from '@rollkeeper/machinery/kubernetes';
import { BlockList, isIPv6 } from 'node:net';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext } from '@rollkeeper/runtime';
import { watch, IPAddress, ServiceCIDR } from '@rollkeeper/runtime';
import { clusterController, parseTimeMs, unlessGone } from '../shared/index.js';

type ReadableCidr = DeepReadonly<ServiceCIDR>;
type Sync = ReconcileContext<ServiceCIDR>;

const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by';
const ALLOCATOR = 'ipallocator.k8s.io';
/** After its deletion an allocator may still take an address of it for this long. */
const DELETION_GRACE_MS = 10_000;

const READY = { status: 'True', message: 'Kubernetes Service CIDR is ready' } as const;
const HELD = {
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
} as const;

/** Whether a network holds an address, or a whole network. */
function holds(network: string, other: string): boolean {
  const [address = '', prefix = ''] = network.split('/');
  const [first = '', length] = other.split('/');
  if (isIPv6(address) !== isIPv6(first)) return false;
  if (length !== undefined && Number(length) < Number(prefix)) return false;
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), family);
  return list.check(first, family);
}

function isIn({ spec }: ReadableCidr, other: string): boolean {
  return (spec?.cidrs ?? []).some((network) => holds(network, other));
}

/**
 * Whether a ServiceCIDR that is being deleted may go: no address is left without a network. Source: canDeleteCIDR in k/k
 * pkg/controller/servicecidrs.
 */
export function mayGo(
  cidr: ReadableCidr,
  others: readonly ReadableCidr[],
  addresses: readonly DeepReadonly<IPAddress>[],
): boolean {
  const networks = cidr.spec?.cidrs ?? [];
  if (networks.every((network) => others.some((other) => isIn(other, network)))) return true;
  return addresses
    .filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === ALLOCATOR && isIn(cidr, metadata.name))
    .every(({ metadata }) => others.some((other) => isIn(other, metadata.name)));
}

/** Keeps ServiceCIDRs while addresses are taken from them, and says that they are ready. */
export const serviceCidrController = clusterController<ServiceCIDR>({
  name: 'service-cidr',
  serviceAccount: 'service-cidrs-controller',
  for: ServiceCIDR,
  predicates: [({ type }) => type !== 'deleted'],
  watches: [
    watch(
      IPAddress,
      (_address, listerOf) => leavingOf(listerOf(ServiceCIDR).list()),
      ({ type }) => type !== 'modified',
    ),
    watch(
      ServiceCIDR,
      (_cidr, listerOf) => leavingOf(listerOf(ServiceCIDR).list()),
      ({ type }) => type !== 'modified',
    ),
  ],
  async reconcile(_request, sync) {
    const { clock, lister, object: cidr } = sync;
    if (!cidr) return {};
    const { deletionTimestamp, finalizers = [] } = cidr.metadata;
    if (deletionTimestamp === undefined) {
      if (!finalizers.includes(FINALIZER)) await setFinalizers(cidr, [...finalizers, FINALIZER], sync);
      await setReady(cidr, READY, sync);
      return {};
    }
    const others = lister(ServiceCIDR)
      .list()
      .filter(({ metadata }) => metadata.name !== cidr.metadata.name);
    if (!mayGo(cidr, others, lister(IPAddress).list())) {
      await setReady(cidr, HELD, sync);
      return {};
    }
    const leftMs = (parseTimeMs(deletionTimestamp) ?? 0) + DELETION_GRACE_MS - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    if (finalizers.includes(FINALIZER))
      await setFinalizers(
        cidr,
        finalizers.filter((each) => each !== FINALIZER),
        sync,
      );
    return {};
  },
});

function leavingOf(cidrs: readonly ReadableCidr[]): { readonly name: string }[] {
  return cidrs
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => ({ name: metadata.name }));
}

async function setFinalizers(
  { metadata: { name, resourceVersion, uid } }: ReadableCidr,
  finalizers: readonly string[],
  { client }: Sync,
): Promise<void> {
  const body = { metadata: { uid, resourceVersion, finalizers } };
  await unlessGone(client.patch(ServiceCIDR, { name }, { type: 'merge', body }));
}

async function setReady(
  { metadata: { name, uid }, status }: ReadableCidr,
  wanted: typeof READY | typeof HELD,
  { client, clock }: Sync,
): Promise<void> {
  const before = findCondition(status?.conditions, 'Ready');
  if (before?.status === wanted.status && before.message === wanted.message) return;
  const lastTransitionTime = transitionTime(before, wanted.status, toRfc3339(clock.now()));
  const others = (status?.conditions ?? []).filter((condition) => condition !== before);
  const ready = { type: 'Ready', reason: '', ...wanted, lastTransitionTime };
  const body = { metadata: { uid }, status: { conditions: [...others, ready] } };
  await unlessGone(client.patch(ServiceCIDR, { name }, { type: 'merge', body }, { subresource: 'status' }));
}
