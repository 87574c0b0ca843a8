import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { RouteChange, RouteWrite } from '../common/route-write.js';
import type { TrafficServices } from '../common/steered-services.js';
import type { ReadyEndpoints } from './endpoints.js';
import { isAt, managedRulesOf, type ManagedRule } from './managed-rules.js';
import { NO_PARTS } from './own-parts.js';
import type { WeightedRoute } from './route-part.js';
import { filterChanges, ruleChanges, weightChanges, writeOf } from './route-writes.js';
import type { RouteWord } from './settings.js';
import type { SteeredBy } from './steered-by.js';
import { noteChanges } from './steered-note.js';

/** A route by which a rollout leads requests, or has led them. */
export interface SteeredRoute {
  readonly kind: RouteWord;
  readonly route: DeepReadonly<WeightedRoute>;
  readonly by: SteeredBy;
}

/** The part of a route that is still led. */
interface Kept {
  /** The rules whose weights the policy writes now. */
  readonly rules: readonly ManagedRule[];
  /** The note that it then has. @default the Deployment leads nothing */
  readonly note?: SteeredBy | undefined;
}

/** The part of a route that a rollout no longer leads, and has to give back. */
export interface Clearing extends SteeredRoute {
  readonly rules: readonly ManagedRule[];
  readonly kept: Kept;
}

/** The part of a route that a rollout has left behind; `undefined` if there is none. */
export function clearingOf(
  { by, kind, route }: SteeredRoute,
  kept: Kept = { rules: [] },
): Clearing | undefined {
  const { services } = by;
  // Without a note, added rules are all that is known: they are those of the policy, or left.
  if (services ? semanticEqual(by, kept.note) : kept.rules.length > 0) return undefined;
  const refs = (by.rules ?? [undefined]).map((rule) => ({ kind, name: route.metadata.name, rule }));
  const found = services ? refs.map((ref) => managedRulesOf(route, ref, services)) : [];
  const rules = found
    .flatMap((each) => ('rules' in each ? each.rules : []))
    .filter(({ at }) => !kept.rules.some((rule) => rule.at === at));
  return { by, kind, route, rules, kept };
}

/** The Services whose endpoints must be known before the weights of these go back. */
export function servicesToRead(clearings: readonly Clearing[]): readonly string[] {
  const names = clearings.filter(isShared).flatMap(({ by: { services } }) => servicesIn(services));
  return [...new Set(names)];
}

function servicesIn(services: TrafficServices | undefined): readonly string[] {
  return services ? [services.stable, services.canary] : [];
}

function isShared({ rules }: Clearing): boolean {
  return !rules.every((rule) => isAt(rule, 0));
}

/** The write that clears a route. */
export interface ClearingWrite {
  /** At most one. */
  readonly writes: readonly RouteWrite[];
  /** Whether nothing is left then. */
  readonly isWhole: boolean;
}

/**
 * Added rules, copies and cookies go at once. The stable Service gets the requests back only if it has a ready endpoint, or if the other
 * one has none either: until then the route keeps its note, so that this is done later.
 */
export function clearRoute(clearing: Clearing, endpoints: ReadyEndpoints): ClearingWrite {
  const { by, kept, kind, route, rules } = clearing;
  const { deployment } = by;
  const isWhole = !isShared(clearing) || mayReturn(by.services, endpoints);
  const own = { deployment, parts: NO_PARTS };
  const changes: readonly RouteChange[] = [
    ...(isWhole ? rules.flatMap((rule) => weightChanges(rule, 0)) : []),
    ...rules.flatMap((rule) => filterChanges(rule, own)),
    // A policy that leads other rules of the route compares the added ones itself.
    ...(kept.rules.length > 0 ? [] : ruleChanges(route, [], own)),
    ...(isWhole ? noteChanges(route, deployment, kept.note) : []),
  ];
  return { writes: writeOf(kind, route, changes, true), isWhole };
}

function mayReturn(services: TrafficServices | undefined, endpoints: ReadyEndpoints): boolean {
  const countOf = (name = ''): number => endpoints.get(name)?.size ?? 0;
  return countOf(services?.stable) > 0 || countOf(services?.canary) === 0;
}
