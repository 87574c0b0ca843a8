import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { compileLabelSelector, sameJson, Pod } from '@rollkeeper/machinery/kubernetes';
import type { ControllerChoices, ControllerTraits, KindIndex, ListerOf } from '@rollkeeper/runtime';
import { Service, indexBy, watch } from '@rollkeeper/runtime';
import {
  LABEL_INDEX,
  SELECTOR_INDEX,
  labelIndex,
  selectedFrom,
  selectorIndexValue,
  selectorIndexValuesFor,
} from '../shared/index.js';
import { endpointFacts, hasEndpointsFromPods } from './pod-endpoint.js';

type ReadableService = DeepReadonly<Service>;

/** The watches of both kinds of endpoints: Services, and the pods that they select. */
export const SERVICES_AND_PODS = {
  for: Service,
  indexes: [indexBy(Service, SELECTOR_INDEX, serviceSelector), indexBy<Pod>(Pod, LABEL_INDEX, labelIndex)],
  watches: [
    watch<Pod>(
      Pod,
      servicesOf,
      (event) =>
        event.type !== 'modified' || !sameJson(endpointFacts(event.old), endpointFacts(event.object)),
    ),
  ],
} satisfies Pick<ControllerTraits<Service>, 'for'> &
  ControllerChoices<Service> & { readonly indexes: readonly KindIndex[] };

export function podsOf(service: ReadableService, listerOf: ListerOf): readonly DeepReadonly<Pod>[] {
  const { metadata, spec } = service;
  const matchLabels = { ...spec.selector };
  return selectedFrom(listerOf<Pod>(Pod), metadata.namespace ?? '', { matchLabels });
}

function serviceSelector(service: ReadableService): readonly string[] {
  const { metadata, spec } = service;
  return hasEndpointsFromPods(service) ? [selectorIndexValue(metadata.namespace ?? '', spec.selector)] : [];
}

function* servicesOf(pod: DeepReadonly<KubernetesObject>, listerOf: ListerOf) {
  for (const value of selectorIndexValuesFor(pod))
    for (const { metadata, spec } of listerOf(Service).byIndex(SELECTOR_INDEX, value))
      if (compileLabelSelector({ matchLabels: { ...spec.selector } })(pod.metadata.labels)) yield metadata;
}
