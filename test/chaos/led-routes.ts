import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import type { Kind } from '../../src/runtime/index.js';
import { defineKind, typeMeta } from '../../src/runtime/index.js';
import type { LedRoute } from './checkers/led-route.js';
import { hostOfEdit, servicesLedBy } from './checkers/led-route.js';

export const HTTPRoute: Kind<LedRoute> = defineKind<LedRoute>({
  ...{ group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute' },
});

/** Parts of a route that no rollout may change. */
const FOREIGN = {
  filter: {
    type: 'RequestHeaderModifier',
    requestHeaderModifier: { set: [{ name: 'x-load', value: 'yes' }] },
  },
  rule: {
    matches: [{ path: { type: 'PathPrefix', value: '/other' } }],
    backendRefs: [{ name: 'other', port: 80 }],
  },
};

/** A route that names two Services of a Deployment, and these Services. */
export function aLedRoute(
  namespace: string,
  name: string,
): { readonly route: LedRoute; readonly services: readonly KubernetesObject[] } {
  const { canary, stable } = servicesLedBy(name);
  const spec = { selector: { app: name }, ports: [{ port: 80 }] };
  const services = [stable, canary].map((service) => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: service }, spec },
  }));
  const backendRefs = [
    { name: stable, port: 80, weight: 100 },
    { name: canary, port: 80, weight: 0 },
  ];
  const rules = [{ filters: [FOREIGN.filter], backendRefs }, FOREIGN.rule];
  const route = {
    ...{ ...typeMeta(HTTPRoute), metadata: { namespace, name } },
    spec: { parentRefs: [{ name: 'gateway' }], hostnames: [hostOfEdit(0)], rules },
  };
  return { route, services };
}

/** Whether a gateway has said that it serves a route as it is now. */
export function isServed({ metadata, status }: LedRoute): boolean {
  const [condition] = status?.parents[0]?.conditions ?? [];
  return condition?.observedGeneration === metadata.generation;
}

/** The status of a route that all its parents serve as it is. @param now RFC 3339 */
export function servedStatus({ metadata, spec }: LedRoute, now: string): object {
  const { generation = 0 } = metadata;
  const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
    ...{ type, status: 'True', reason: type, message: '', observedGeneration: generation },
    lastTransitionTime: now,
  }));
  const controllerName = 'example.com/gateway';
  return {
    parents: (spec.parentRefs ?? []).map((parentRef) => ({ parentRef, controllerName, conditions })),
  };
}
