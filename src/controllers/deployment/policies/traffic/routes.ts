import type {
  InformerSource,
  Kind,
  Lister,
  PartialKind,
  ResourceEvent,
  WatchedKind,
} from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, defineKind, partOf, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from '../common/names.js';
import type { SteeredRoute } from './clearing.js';
import { keepWeights, type Route, type WeightedRoute } from './route-part.js';
import { ROUTE_WORDS, routesNamedBy, type RouteWord } from './settings.js';

const GATEWAY_API = { group: 'gateway.networking.k8s.io', version: 'v1' } as const;

export const HTTPRoute: Kind<Route> = defineKind<Route>({ ...GATEWAY_API, kind: 'HTTPRoute' });
export const GRPCRoute: Kind<Route> = defineKind<Route>({ ...GATEWAY_API, kind: 'GRPCRoute' });

const PARTS: Readonly<Record<RouteWord, PartialKind<WeightedRoute>>> = {
  httproute: partOf(HTTPRoute, 'weights', keepWeights),
  grpcroute: partOf(GRPCRoute, 'weights', keepWeights),
};

/** The routes that the caches know. */
export interface Routes {
  find(kind: RouteWord, namespace: string, name: string): DeepReadonly<WeightedRoute> | undefined;
  /** The routes by which rollouts of this Deployment lead requests, or have led them. */
  steeredBy(namespace: string, deployment: string): readonly SteeredRoute[];
  /** The routes that still have what a deleted Deployment wrote. */
  leftBy(namespace: string, deployment: string): readonly SteeredRoute[];
  /** `starting`: the first list is under way. `refused`: the server does not give it, or has no such kind. */
  availabilityOf(kind: RouteWord): 'known' | 'starting' | 'refused';
}

/** `off`: the replica does not watch them. */
export type WatchedRoutes = Routes | 'off';

/** While a kind may not be listed, or is not installed, no rollout that needs it begins, and the Deployments say so. */
export function weightedRoutes(
  informers: Pick<InformerSource, 'partialInformerFor'>,
  deployments: readonly Lister<Deployment>[],
): Routes {
  const informerOf = (kind: RouteWord) => {
    const informer = informers.partialInformerFor<WeightedRoute>(PARTS[kind], { optional: true });
    informer.addIndex(STEERED_INDEX, ({ metadata: { namespace }, steeredBy = [] }) =>
      steeredBy.map(({ deployment }) => `${namespace}/${deployment}`),
    );
    return informer;
  };
  const caches = { httproute: informerOf('httproute'), grpcroute: informerOf('grpcroute') };
  const steeredBy: Routes['steeredBy'] = (namespace, deployment) =>
    ROUTE_WORDS.flatMap((kind) =>
      caches[kind].lister
        .byIndex(STEERED_INDEX, `${namespace}/${deployment}`)
        .flatMap((route) =>
          (route.steeredBy ?? [])
            .filter((by) => by.deployment === deployment)
            .map((by) => ({ kind, route, by })),
        ),
    );
  return {
    steeredBy,
    leftBy: (namespace, name) =>
      deployments.some((lister) => lister.get(`${namespace}/${name}`)) ? [] : steeredBy(namespace, name),
    find: (kind, namespace, name) => caches[kind].lister.get(`${namespace}/${name}`),
    availabilityOf: (kind) => {
      const { hasSynced, trouble } = caches[kind];
      if (hasSynced) return 'known';
      return trouble ? 'refused' : 'starting';
    },
  };
}

const STEERED_INDEX = 'steered-by';
const ROUTES_INDEX = 'routes-of-policy';
const TRAFFIC = annotationOf('traffic');

/** Files a Deployment under the routes that its annotation names. */
export const ROUTES_OF_POLICY = {
  name: ROUTES_INDEX,
  valuesOf: ({ metadata }: DeepReadonly<Deployment>): readonly string[] =>
    routesNamedBy(metadata.annotations?.[TRAFFIC]).map(
      ({ kind, name }) => `${kind}/${metadata.namespace}/${name}`,
    ),
};

/** A route that comes, goes, has other weights, or is served otherwise brings those Deployments back that name it, or lead by it. */
export function watchRoutes(
  kind: Kind<Deployment>,
  defaultsOf: (namespace: string) => Annotations | undefined,
): readonly WatchedKind[] {
  return ROUTE_WORDS.map((word) => {
    const watched = watch(
      PARTS[word],
      ({ metadata: { name, namespace = '' }, steeredBy = [] }, listerOf) => {
        const defaults = routesNamedBy(defaultsOf(namespace)?.[TRAFFIC]);
        const isDefault = defaults.some((route) => route.kind === word && route.name === name);
        const found = isDefault
          ? listerOf(kind).byIndex(NAMESPACE_INDEX, namespace)
          : listerOf(kind).byIndex(ROUTES_INDEX, `${word}/${namespace}/${name}`);
        // Also one that no longer exists, so that the route is cleared.
        const leaders = steeredBy.map(({ deployment }) => ({ namespace, name: deployment }));
        return [...found.map((deployment) => deployment.metadata), ...leaders];
      },
      hasChanged,
    );
    // At the start as well: of Deployments that were deleted while nothing ran, only the route is left.
    return { ...watched, optional: true, initially: true, urgency: { onlyIfNeeded: true } };
  });
}

function hasChanged(event: ResourceEvent<WeightedRoute>): boolean {
  if (event.type !== 'modified') return true;
  const { object, old } = event;
  return (
    old.notServed !== object.notServed ||
    !semanticEqual(old.rules, object.rules) ||
    !semanticEqual(old.steeredBy, object.steeredBy)
  );
}
