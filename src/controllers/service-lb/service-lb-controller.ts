import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { EventType, Lister, ReconcileContext } from '@rollkeeper/runtime';
import { Service, updateStatus } from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';
import {
  CLEANUP_FINALIZER,
  addressesOf,
  decideLoadBalancer,
  wantsLoadBalancer,
} from './decide-load-balancer.js';

type ReadableService = DeepReadonly<Service>;
type Sync = ReconcileContext<Service>;

/** Delay before retrying when no address is free, milliseconds. */
const RETRY_MS = 30_000;

/**
 * Simulates a cloud: assigns addresses to Services of type LoadBalancer, and releases them. Nothing listens there.
 * Source: k8s.io/cloud-provider/controllers/service.
 */
export const serviceLoadBalancerController = clusterController<Service>(
  {
    name: 'service-lb',
    serviceAccount: null,
    for: Service,
    aliases: ['service'],
    eventSource: 'service-controller',
  },
  () => {
    // The caches may not show recent assignments yet.
    const given = new Map<string, readonly string[]>();
    return {
      // Two Services processed concurrently could get the same address.
      workers: 1,
      predicates: [
        (event) =>
          event.type !== 'deleted' &&
          (wantsLoadBalancer(event.object) ||
            event.object.metadata.finalizers?.includes(CLEANUP_FINALIZER) === true),
      ],
      async reconcile({ key }, sync) {
        const { lister, object: service } = sync;
        if (!service) {
          given.delete(key);
          return {};
        }
        const decision = decideLoadBalancer(service, takenByOthers(key, lister(Service), given));
        const tell = tellAbout(service, sync);
        switch (decision.action) {
          case 'ensure':
            given.set(key, decision.addresses);
            await ensure(service, decision.addresses, sync);
            return {};
          case 'release':
            await release(service, sync);
            given.delete(key);
            return {};
          case 'fail': {
            const message = `Error syncing load balancer: failed to ensure load balancer: ${decision.why}`;
            tell('SyncLoadBalancerFailed', message, 'Warning');
            return { requeueAfterMs: RETRY_MS };
          }
          case 'nothing':
            return {};
        }
      },
    };
  },
);

function takenByOthers(
  key: string,
  services: Pick<Lister<Service>, 'get' | 'list'>,
  given: Map<string, readonly string[]>,
): ReadonlySet<string> {
  const taken = services
    .list()
    .filter(({ metadata }) => keyOf(metadata) !== key)
    .flatMap(addressesOf);
  const promised = [...given].flatMap(([other, addresses]) => {
    if (other === key) return [];
    if (services.get(other)) return addresses;
    given.delete(other);
    return [];
  });
  return new Set([...taken, ...promised]);
}

/** The finalizer first: an address is only assigned if it will be released. */
async function ensure(service: ReadableService, addresses: readonly string[], sync: Sync): Promise<void> {
  const { client } = sync;
  const tell = tellAbout(service, sync);
  const { finalizers = [] } = service.metadata;
  tell('EnsuringLoadBalancer', 'Ensuring load balancer');
  const kept = finalizers.includes(CLEANUP_FINALIZER)
    ? service
    : await setFinalizers(service, [...finalizers, CLEANUP_FINALIZER], sync);
  if (!kept) return;
  const ingress = addresses.map((ip) => ({ ip, ipMode: 'VIP' }));
  await updateStatus(client, Service, kept, { ...kept.status, loadBalancer: { ingress } });
  tell('EnsuredLoadBalancer', 'Ensured load balancer');
}

async function release(service: ReadableService, sync: Sync): Promise<void> {
  const tell = tellAbout(service, sync);
  const { deletionTimestamp, finalizers = [] } = service.metadata;
  tell('DeletingLoadBalancer', 'Deleting load balancer');
  const others = finalizers.filter((each) => each !== CLEANUP_FINALIZER);
  const left = await setFinalizers(service, others, sync);
  if (left && deletionTimestamp === undefined)
    await updateStatus(sync.client, Service, left, { ...left.status, loadBalancer: {} });
  tell('DeletedLoadBalancer', 'Deleted load balancer');
}

async function setFinalizers(
  { metadata }: ReadableService,
  finalizers: readonly string[],
  { client }: Sync,
): Promise<ReadableService | undefined> {
  const { name, namespace, resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return unlessGone(client.patch<Service>(Service, { namespace, name }, { type: 'merge', body }));
}

function tellAbout(service: ReadableService, { events }: Sync) {
  return (reason: string, message: string, type: EventType = 'Normal'): void =>
    events.record(service, { type, reason, message });
}
