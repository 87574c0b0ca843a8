import type { ControllerDefinition } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX, Service, usualUrgency, watch, EndpointSlice, Endpoints } from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';
import { MAX_PER_SUBSET, decideMirror, isMirror, isMirrored } from './decide-mirror.js';

/**
 * Mirrors Endpoints that people maintain, of Services without a selector, to EndpointSlices. The Endpoints own them. Source: k/k
 * pkg/controller/endpointslicemirroring.
 */
export const endpointSliceMirroringController: ControllerDefinition = clusterController<Endpoints>(
  {
    name: 'endpointslice-mirroring',
    aliases: ['endpointslicemirroring'],
    for: Endpoints,
    eventSource: 'endpoint-slice-mirroring-controller',
    serviceAccount: 'endpointslicemirroring-controller',
  },
  ({ informers }) => {
    const all = informers.informerFor<Endpoints>(Endpoints);
    const services = informers.informerFor<Service>(Service);
    const slices = informers.informerFor<EndpointSlice>(EndpointSlice);
    return {
      // Nearly all Endpoints are those of pods, and change all the time.
      urgency: (event) => ({ ...usualUrgency(event), onlyIfNeeded: true }),
      owns: [{ kind: EndpointSlice, predicates: [(event) => event.type !== 'added'] }],
      watches: [
        {
          ...watch(
            Service,
            ({ metadata }) => [metadata],
            (event) =>
              event.type !== 'modified' ||
              (event.old.spec.selector === undefined) !== (event.object.spec.selector === undefined),
          ),
          urgency: { onlyIfNeeded: true },
        },
      ],
      needsSync(key) {
        const endpoints = all.lister.get(key);
        if (!endpoints) return false;
        if (isMirrored(endpoints, services.lister.get(key))) return true;
        return slices.lister.byIndex(OWNER_UID_INDEX, endpoints.metadata.uid ?? '').some(isMirror);
      },
      async reconcile({ key }, { client, events, lister, object: endpoints, owned }) {
        if (!endpoints || endpoints.metadata.deletionTimestamp !== undefined) return;
        const mirrors = owned(EndpointSlice).filter(isMirror);
        const isWanted = isMirrored(endpoints, lister(Service).get(key));
        const { creates, deletes, invalid, tooMany, updates } = isWanted
          ? decideMirror(endpoints, mirrors)
          : { creates: [], updates: [], deletes: mirrors, invalid: 0, tooMany: 0 };
        if (invalid > 0)
          events.record(endpoints, {
            type: 'Warning',
            reason: 'InvalidIPAddress',
            message: `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`,
          });
        if (tooMany > 0)
          events.record(endpoints, {
            type: 'Warning',
            reason: 'TooManyAddressesToMirror',
            message: `A max of ${MAX_PER_SUBSET} addresses can be mirrored to EndpointSlices per Endpoints subset. ${tooMany + invalid} addresses were skipped`,
          });
        for (const slice of creates) await client.create(EndpointSlice, slice);
        for (const slice of updates) await client.update(EndpointSlice, slice);
        for (const { metadata } of deletes)
          await unlessGone(
            client.delete(EndpointSlice, metadata, { preconditions: { uid: metadata.uid ?? '' } }),
          );
      },
    };
  },
);
