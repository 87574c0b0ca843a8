import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';

/** The fields of a route that its checks read. */
export interface LedRoute extends KubernetesObject {
  readonly spec: {
    readonly parentRefs?: readonly { readonly name: string }[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly LedRule[];
  };
  readonly status?: {
    readonly parents: readonly {
      readonly conditions?: readonly { readonly observedGeneration?: number }[];
    }[];
  };
}

interface LedRule {
  readonly name?: string;
  readonly filters?: readonly LedFilter[];
  readonly matches?: readonly object[];
  readonly backendRefs?: readonly LedBackend[];
}

interface LedBackend {
  readonly name: string;
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly LedFilter[];
}

interface LedFilter {
  readonly type: string;
  readonly requestMirror?: { readonly backendRef: { readonly name: string } };
  readonly requestHeaderModifier?: object;
  readonly responseHeaderModifier?: {
    readonly add?: readonly { readonly name: string; readonly value: string }[];
  };
}

/** The two Services of a Deployment whose requests a route leads. */
export interface LedServices {
  readonly stable: string;
  readonly canary: string;
}

/** The requests that a route gives each of its two Services: percent, and the rules that lead to the second one beside its weight. */
export interface LedShares {
  readonly stable: number;
  readonly canary: number;
  readonly added: number;
}

const STEERED_BY = 'rollkeeper.dev/steered-by';
/** The beginning of the name of each rule that a rollout adds. */
const ADDED = 'rollkeeper.';
/** The beginning of the name of the cookie by which users stay on a version. */
const STICKY = 'rollkeeper-';

/** The Services of each Deployment of a load, which are named after it. */
export function servicesLedBy(deployment: string): LedServices {
  return { stable: `${deployment}-stable`, canary: `${deployment}-canary` };
}

export function addedRulesOf({ spec }: LedRoute): readonly LedRule[] {
  return (spec.rules ?? []).filter(isAdded);
}

/** The host by which the checks know how many changes of another hand are in a route. */
export function hostOfEdit(count: number): string {
  return `${count}.example.com`;
}

/** The number of the last change of another hand; -1 if the host is gone. */
export function editsIn({ spec }: LedRoute): number {
  return Number(spec.hostnames?.[0]?.split('.')[0] ?? -1);
}

/** The shares in the first rule that names both Services. */
export function percentsOf(route: LedRoute, services: LedServices): LedShares {
  const rule = route.spec.rules?.find((each) => !isAdded(each) && namesBoth(each, services));
  const weightOf = (service: string): number =>
    rule?.backendRefs?.find(({ name }) => name === service)?.weight ?? 1;
  return {
    stable: weightOf(services.stable),
    canary: weightOf(services.canary),
    added: addedRulesOf(route).length,
  };
}

/** The parts of a route that no rollout may change, to be compared, beside the host of {@link editsIn}. */
export function foreignPartsOf({ metadata, spec }: LedRoute, services: LedServices): unknown {
  const { [STEERED_BY]: _note, ...annotations } = metadata.annotations ?? {};
  const { hostnames: _hosts, ...others } = spec;
  const rules = (spec.rules ?? [])
    .filter((rule) => !isAdded(rule))
    .map((rule) => (namesBoth(rule, services) ? foreignPartsOfRule(rule, services) : rule));
  return { annotations, labels: metadata.labels ?? {}, spec: { ...others, rules } };
}

/** The parts of a rollout that are left in a route, in words; undefined if it is as it was before. */
export function leftInRoute(route: LedRoute, services: LedServices): string | undefined {
  const { added, canary, stable } = percentsOf(route, services);
  const isNoted = route.metadata.annotations?.[STEERED_BY] !== undefined;
  const filters = (route.spec.rules ?? []).flatMap((rule) => ownFiltersOf(rule, services));
  if (stable === 100 && canary === 0 && added === 0 && !isNoted && filters.length === 0) return undefined;
  const more = `${added} added rules, ${filters.length} filters${isNoted ? ' and a note' : ''}`;
  return `HTTPRoute ${route.metadata.name} has ${stable}/${canary}, ${more}`;
}

function foreignPartsOfRule(rule: LedRule, { canary, stable }: LedServices): LedRule {
  const backendRefs = (rule.backendRefs ?? []).map((backend) => {
    if (backend.name !== stable && backend.name !== canary) return backend;
    const { filters = [], weight: _weight, ...others } = backend;
    return { ...others, filters: filters.filter((filter) => !isSticky(filter)) };
  });
  const filters = (rule.filters ?? []).filter((filter) => !isMirror(filter, canary));
  return { ...rule, backendRefs, filters };
}

function ownFiltersOf({ backendRefs = [], filters = [] }: LedRule, { canary }: LedServices): LedFilter[] {
  return [
    ...filters.filter((filter) => isMirror(filter, canary)),
    ...backendRefs.flatMap((backend) => backend.filters ?? []).filter(isSticky),
  ];
}

function isAdded({ name }: LedRule): boolean {
  return name?.startsWith(ADDED) === true;
}

function namesBoth({ backendRefs = [] }: LedRule, { canary, stable }: LedServices): boolean {
  return [stable, canary].every((service) => backendRefs.some(({ name }) => name === service));
}

function isMirror({ requestMirror }: LedFilter, canary: string): boolean {
  return requestMirror?.backendRef.name === canary;
}

function isSticky({ responseHeaderModifier }: LedFilter): boolean {
  return responseHeaderModifier?.add?.some(({ value }) => value.startsWith(STICKY)) === true;
}
