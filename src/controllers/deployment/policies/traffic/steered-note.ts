import { semanticEqual, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { RouteChange } from '../common/route-write.js';
import type { TrafficServices } from '../common/steered-services.js';
import type { ManagedRule } from './managed-rules.js';
import type { WeightedRoute } from './route-part.js';
import { STEERED_BY, type SteeredBy } from './steered-by.js';

/** The note of a Deployment on a route. */
export function noteOn(route: DeepReadonly<WeightedRoute>, deployment: string): SteeredBy | undefined {
  const found = route.steeredBy?.find((each) => each.deployment === deployment);
  return found?.services && found;
}

/** The note that goes with these rules of a route; `undefined` without any. */
export function noteFor(
  rules: readonly ManagedRule[],
  deployment: string,
  services: TrafficServices,
): SteeredBy | undefined {
  if (rules.length === 0) return undefined;
  const { canary, stable } = services;
  const names = rules.flatMap(({ onlyRule }) => onlyRule ?? []);
  return {
    ...{ deployment, services: { stable, canary } },
    ...(names.length === rules.length && { rules: [...new Set(names)] }),
  };
}

/** @param to undefined: the note of the Deployment is removed */
export function noteChanges(
  route: DeepReadonly<WeightedRoute>,
  deployment: string,
  to: SteeredBy | undefined,
): readonly RouteChange[] {
  if (semanticEqual(noteOn(route, deployment), to)) return [];
  const others = (route.steeredBy ?? []).filter((each) => each.services && each.deployment !== deployment);
  const all = [...others, ...(to ? [to] : [])];
  const path = `/metadata/annotations/${STEERED_BY.replace('/', '~1')}`;
  if (all.length === 0) return [{ op: 'remove', path }];
  const value = stringifyJson(
    Object.fromEntries(
      all.map((each) => [each.deployment, { ...each.services, ...(each.rules && { rules: each.rules }) }]),
    ),
  );
  return route.isAnnotated
    ? [{ op: 'add', path, value }]
    : [{ op: 'add', path: '/metadata/annotations', value: { [STEERED_BY]: value } }];
}
