import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { writableCopy, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Service } from '@rollkeeper/runtime';
import { typeMeta, watch, Endpoints } from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController, unlessGone } from '../shared/index.js';
import { decideSubsets } from './decide-subsets.js';
import { CHANGED_AT, HEADLESS_LABEL, hasEndpointsFromPods, isHeadless } from './pod-endpoint.js';
import { SERVICES_AND_PODS, podsOf } from './watch-services.js';

const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';
/** Distinguishes Endpoints that were made for a selector from those that a person wrote. */
const MANAGED_BY = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };

/**
 * Maintains the Endpoints of each Service with a selector. Source: `Controller.syncService` in k/k
 * pkg/controller/endpoint.
 */
export const endpointsController = clusterController<Service>({
  name: 'endpoints',
  serviceAccount: 'endpoint-controller',
  aliases: ['endpoint'],
  trims: WHOLE_PODS,
  ...SERVICES_AND_PODS,
  watches: [
    ...SERVICES_AND_PODS.watches,
    watch(
      Endpoints,
      ({ metadata }) => [metadata],
      (event) => event.type !== 'added',
    ),
  ],
  async reconcile({ key, name, namespace }, { client, clock, lister, object: service }) {
    const known = lister(Endpoints).get(key);
    if (!service && known) await unlessGone(client.delete(Endpoints, { namespace, name }));
    if (!service || !hasEndpointsFromPods(service)) return;
    const wanted = newEndpoints(service, decideSubsets(service, podsOf(service, lister)), known);
    if (known && isSame(known, wanted)) return;
    const changedAt = { [CHANGED_AT]: toRfc3339(clock.now()) };
    wanted.metadata.annotations = { ...wanted.metadata.annotations, ...changedAt };
    if (known) await client.update(Endpoints, wanted);
    else await client.create(Endpoints, wanted);
  },
});

function newEndpoints(
  service: DeepReadonly<Service>,
  { isTruncated, subsets }: ReturnType<typeof decideSubsets>,
  known: DeepReadonly<Endpoints> | undefined,
): Endpoints {
  const { labels: own, name, namespace } = service.metadata;
  const base: Endpoints = known
    ? writableCopy<Endpoints>(known)
    : { ...typeMeta(Endpoints), metadata: { namespace, name } };
  const labels = { ...own, ...MANAGED_BY, ...(isHeadless(service) && { [HEADLESS_LABEL]: '' }) };
  const { [OVER_CAPACITY]: _, ...annotations } = base.metadata.annotations ?? {};
  if (isTruncated) annotations[OVER_CAPACITY] = 'truncated';
  return { ...base, metadata: { ...base.metadata, labels, annotations }, subsets: [...subsets] };
}

function isSame(known: DeepReadonly<Endpoints>, wanted: Endpoints): boolean {
  const parts = ({ metadata, subsets = [] }: DeepReadonly<Endpoints>) => ({
    subsets,
    labels: metadata.labels ?? {},
    isTruncated: metadata.annotations?.[OVER_CAPACITY],
  });
  return sameJson(parts(known), parts(wanted));
}
