import type { DeepReadonly, KubernetesObject, Taint } from '@rollkeeper/machinery/kubernetes';
import type { InformerSource, Kind, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { Node, partOf, sameJson, watch } from '@rollkeeper/runtime';
import { asksForSetPolicies } from './asks-for-policies.js';

/** The part of a node by which it is suitable for a set: its labels and taints. Its status changes all the time. */
export type PlaceNode = KubernetesObject & { readonly spec: { readonly taints?: Taint[] } };

/** The part of a node that counts. */
export function placeOf({ apiVersion, kind, metadata, spec }: SeenNode): PlaceNode {
  const { labels, name, resourceVersion, uid } = metadata;
  const taints = spec?.taints ?? [];
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, labels }, spec: { taints } };
}

type SeenNode = KubernetesObject & { readonly spec?: Partial<PlaceNode['spec']> };

/** The part of each node that is cached. */
export const NODE_PLACES = partOf(Node, 'places', placeOf);

/** The nodes, as the caches know them. */
export interface SetNodes {
  /**
   * `starting`: the first list is under way, for which replicas wait before they begin. `refused`: the server does not give it, or not yet;
   * if it comes later, it wakes the sets.
   */
  read(): readonly DeepReadonly<PlaceNode>[] | 'starting' | 'refused';
  /** Wakes the sets that ask for policies when nodes come, go or change. */
  readonly watched: WatchedKind;
}

/** The nodes that the pods of a kind of sets are for. */
export function setNodes(informers: Pick<InformerSource, 'partialInformerFor'>, kind: Kind): SetNodes {
  const informer = informers.partialInformerFor<PlaceNode>(NODE_PLACES, { optional: true });
  let isMissed = false;
  /** The first list wakes the sets once, and only if a pass had to do without it. */
  const isNews = (event: ResourceEvent<PlaceNode>): boolean => {
    if (event.type !== 'added' || !event.initial) return hasChanged(event);
    const wakes = isMissed;
    isMissed = false;
    return wakes;
  };
  const watched = watch<PlaceNode>(
    NODE_PLACES,
    (_node, listerOf) =>
      listerOf(kind)
        .list()
        .filter(({ metadata }) => asksForSetPolicies(metadata.annotations))
        .map(({ metadata }) => metadata),
    isNews,
  );
  return {
    read() {
      if (informer.hasSynced) return informer.lister.list();
      isMissed = true;
      return informer.trouble ? 'refused' : 'starting';
    },
    watched: { ...watched, optional: true, initially: true },
  };
}

function hasChanged(event: ResourceEvent<PlaceNode>): boolean {
  return event.type !== 'modified' || !sameJson(factsOf(event.old), factsOf(event.object));
}

function factsOf({ metadata, spec }: DeepReadonly<PlaceNode>): unknown {
  return [metadata.labels, spec.taints];
}
