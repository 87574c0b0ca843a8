import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Service } from '@rollkeeper/runtime';
import { EndpointSlice } from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController, unlessGone } from '../shared/index.js';
import { MANAGED_BY, MANAGED_BY_LABEL, decideSlices } from './decide-slices.js';
import { CHANGED_AT, hasEndpointsFromPods } from './pod-endpoint.js';
import { SERVICES_AND_PODS, podsOf } from './watch-services.js';

/**
 * Maintains the EndpointSlices of each Service with a selector. The Service owns its slices, which are deleted with it.
 * Source: k/k pkg/controller/endpointslice, k8s.io/endpointslice.
 */
export const endpointSliceController = clusterController<Service>({
  name: 'endpointslice',
  trims: WHOLE_PODS,
  ...SERVICES_AND_PODS,
  owns: [{ kind: EndpointSlice, predicates: [(event) => event.type !== 'added'] }],
  async reconcile(_request, { client, clock, lister, object: service, owned }) {
    if (!service || service.metadata.deletionTimestamp !== undefined || !hasEndpointsFromPods(service))
      return;
    const ours = owned(EndpointSlice).filter(
      ({ metadata }) => metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY,
    );
    const { creates, deletes, updates } = decideSlices(service, podsOf(service, lister), ours);
    const annotations = { [CHANGED_AT]: toRfc3339(clock.now()) };
    const stamped = (slice: EndpointSlice): EndpointSlice => {
      const { metadata } = slice;
      return {
        ...slice,
        metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      };
    };
    for (const slice of creates) await client.create(EndpointSlice, stamped(slice));
    for (const slice of updates) await client.update(EndpointSlice, stamped(slice));
    for (const { metadata } of deletes)
      await unlessGone(
        client.delete(EndpointSlice, metadata, { preconditions: { uid: metadata.uid ?? '' } }),
      );
  },
});
