import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { Backend, RouteRule, WeightedRoute } from './route-part.js';
import type { TrafficServices } from '../common/steered-services.js';
import type { RouteRef, RouteWord } from './settings.js';

/** A rule of a route that names both Services of a Deployment. */
export interface ManagedRule {
  readonly kind: RouteWord;
  readonly route: DeepReadonly<WeightedRoute>;
  /** In `spec.rules`. */
  readonly at: number;
  readonly stable: Place;
  readonly canary: Place;
  /** Its name, if it was asked for by that alone. @default its route was asked for */
  readonly onlyRule?: string;
  /** Whether it has other backends, whose share must stay. */
  readonly hasOthers: boolean;
}

interface Place {
  /** In `backendRefs`. */
  readonly at: number;
  readonly weight: number;
  readonly port?: number;
}

export type FoundRules = { readonly rules: readonly ManagedRule[] } | { readonly problem: string };

/** The rules of a route whose weights are steered. */
export function managedRulesOf(
  route: DeepReadonly<WeightedRoute>,
  ref: RouteRef,
  services: TrafficServices,
): FoundRules {
  const title = titleOf(route);
  const rules: ManagedRule[] = [];
  for (const [at, rule] of route.rules.entries()) {
    if (ref.rule !== undefined && rule.name !== ref.rule) continue;
    const stable = placesOf(rule, services.stable);
    const canary = placesOf(rule, services.canary);
    if (stable.length === 0 || canary.length === 0) continue;
    const [first, second] = [stable[0], canary[0]];
    if (stable.length > 1 || canary.length > 1 || !first || !second)
      return { problem: `rule ${at + 1} of ${title} names one of the two Services twice` };
    const hasOthers = rule.backends.length > 2;
    const only = ref.rule === undefined ? {} : { onlyRule: ref.rule };
    rules.push({ kind: ref.kind, route, at, ...only, stable: first, canary: second, hasOthers });
  }
  if (rules.length > 0) return { rules };
  const which =
    ref.rule === undefined ? `no rule of ${title} names` : `rule "${ref.rule}" of ${title} does not name`;
  return { problem: `${which} both Services "${services.stable}" and "${services.canary}"` };
}

function placesOf({ backends }: DeepReadonly<RouteRule>, service: string): readonly Place[] {
  return backends.flatMap((backend: DeepReadonly<Backend>, at) =>
    backend.service === service
      ? [{ at, weight: backend.weight, ...(backend.port !== undefined && { port: backend.port }) }]
      : [],
  );
}

/** `HTTPRoute "web"`. */
export function titleOf({ kind, metadata }: DeepReadonly<WeightedRoute>): string {
  return `${kind} "${metadata.name}"`;
}

/** Whether the canary has exactly this share of the requests of both, percent. */
export function isAt({ canary, stable }: ManagedRule, percent: number): boolean {
  const sum = canary.weight + stable.weight;
  return sum > 0 && canary.weight * 100 === sum * percent;
}

/**
 * The weights that give the canary this share. Beside other backends, both together keep what they have, so that the shares of the
 * others stay.
 * @returns undefined if that cannot be divided so
 */
export function weightsAt(
  { canary, hasOthers, stable }: ManagedRule,
  percent: number,
): { readonly stable: number; readonly canary: number } | undefined {
  const sum = hasOthers ? canary.weight + stable.weight : 100;
  const share = (sum * percent) / 100;
  return sum > 0 && Number.isInteger(share) ? { stable: sum - share, canary: share } : undefined;
}

/** Why a rule cannot give this share. */
export function divisionProblem(rule: ManagedRule, percent: number): string | undefined {
  if (weightsAt(rule, percent)) return undefined;
  const sum = rule.canary.weight + rule.stable.weight;
  return `${percent}% of the weight of both Services in rule ${rule.at + 1} of ${titleOf(rule.route)}, ${sum}, is not whole; beside other backends it must stay, so let it be a multiple of 100`;
}

/** The longest timeout of the rules, milliseconds; 0 if none is set. */
export function longestTimeoutMs(rules: readonly ManagedRule[]): number {
  return Math.max(0, ...rules.map(({ at, route }) => route.rules[at]?.timeoutMs ?? 0));
}
