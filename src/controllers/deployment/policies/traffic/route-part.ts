import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ADDED_RULE, steeredByOf, type SteeredBy } from './steered-by.js';

/** The fields of an HTTPRoute or GRPCRoute that are read here (`gateway.networking.k8s.io/v1`). */
export interface Route extends KubernetesObject {
  readonly spec: {
    readonly parentRefs?: readonly ParentRef[];
    readonly rules?: readonly FullRule[];
  };
  readonly status?: {
    readonly parents?: readonly {
      readonly parentRef: ParentRef;
      readonly conditions?: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason?: string;
        readonly observedGeneration?: number;
      }[];
    }[];
  };
}

/** A rule as it is in the route, with fields beside those that are read here. */
export interface FullRule {
  readonly name?: string;
  readonly matches?: readonly RouteMatch[];
  readonly filters?: readonly RouteFilter[];
  readonly backendRefs?: readonly BackendRef[];
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
  readonly sessionPersistence?: object;
}

/** The conditions of a request. A rule without any has those of every request. */
export interface RouteMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly headers?: readonly HeaderMatch[];
}

export interface HeaderMatch {
  readonly type?: 'Exact' | 'RegularExpression';
  readonly name: string;
  readonly value: string;
}

export interface RouteFilter {
  readonly type: string;
  readonly requestMirror?: { readonly backendRef: BackendRef; readonly percent?: number };
  readonly responseHeaderModifier?: {
    readonly add?: readonly { readonly name: string; readonly value: string }[];
    readonly set?: readonly object[];
    readonly remove?: readonly string[];
  };
}

export interface BackendRef {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly RouteFilter[];
}

interface ParentRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** A route as the cache keeps it. */
export interface WeightedRoute extends KubernetesObject {
  readonly rules: readonly RouteRule[];
  /** Why its parents do not serve what it says now. @default they do */
  readonly notServed?: string;
  /** The Deployments whose rollouts lead its requests. @default none */
  readonly steeredBy?: readonly SteeredBy[];
  /** Whether it has annotations, of which none is kept. */
  readonly isAnnotated: boolean;
}

export interface RouteRule {
  readonly name?: string;
  readonly backends: readonly Backend[];
  /** The longest of its timeouts, milliseconds; 0 if it has none. */
  readonly timeoutMs: number;
  /** The number of its matches, at least 1. */
  readonly matches: number;
  /** All of it, where it has several backends or is one that a controller has added. */
  readonly whole?: FullRule;
}

export interface Backend {
  /** The name of a Service of the same namespace; absent for anything else. */
  readonly service?: string;
  readonly port?: number;
  readonly weight: number;
}

const GATEWAY_GROUP = 'gateway.networking.k8s.io';

/** Keeps the weights of a route, whether its parents serve it, and the rules that may be steered: some hundred bytes. */
export function keepWeights(route: Route): WeightedRoute {
  const { apiVersion, kind, metadata, spec } = route;
  const { generation, name, namespace, resourceVersion, uid } = metadata;
  const notServed = whyNotServed(route);
  const rules = (spec.rules ?? []).map((rule) => keepRule(rule, namespace));
  const steeredBy = steeredByOf(metadata.annotations, spec.rules);
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, generation }, rules },
    ...(notServed !== undefined && { notServed }),
    ...(steeredBy.length > 0 && { steeredBy }),
    isAnnotated: metadata.annotations !== undefined,
  };
}

function keepRule(rule: FullRule, namespace: string | undefined): RouteRule {
  const { backendRefs = [], matches = [], name, timeouts = {} } = rule;
  const isWhole = backendRefs.length > 1 || name?.startsWith(ADDED_RULE) === true;
  return {
    ...(name !== undefined && { name }),
    backends: backendRefs.map((backend) => keepBackend(backend, namespace)),
    timeoutMs: Math.max(millisecondsOf(timeouts.request), millisecondsOf(timeouts.backendRequest)),
    matches: Math.max(1, matches.length),
    ...(isWhole && { whole: rule }),
  };
}

function keepBackend(
  { group = '', kind = 'Service', name, namespace: other, port, weight = 1 }: BackendRef,
  namespace: string | undefined,
): Backend {
  const isService = group === '' && kind === 'Service' && (other === undefined || other === namespace);
  return { weight, ...(isService && { service: name }), ...(port !== undefined && { port }) };
}

/**
 * Each parent writes an entry into the status, with conditions of the generation that it has seen (the specification of
 * RouteParentStatus, and the conformance test of observedGeneration).
 */
function whyNotServed({ metadata, spec, status }: DeepReadonly<Route>): string | undefined {
  const { parentRefs = [] } = spec;
  const { generation = 0, namespace } = metadata;
  if (parentRefs.length === 0) return 'it names no parent';
  for (const parent of parentRefs) {
    const entries = (status?.parents ?? []).filter(({ parentRef }) => isSame(parentRef, parent, namespace));
    const name = `${parent.kind ?? 'Gateway'} "${parent.name}"`;
    if (entries.length === 0) return `${name} has not answered`;
    for (const { conditions = [] } of entries) {
      const accepted = conditions.find(({ type }) => type === 'Accepted');
      if (!accepted) return `${name} has not accepted it`;
      const wrong = conditions.find(({ status: is, type }) => REQUIRED.has(type) && is !== 'True');
      if (wrong) return `${name} says ${wrong.type} ${wrong.status}: ${wrong.reason ?? 'no reason'}`;
      if ((accepted.observedGeneration ?? 0) < generation) return `${name} has not seen its last change`;
    }
  }
  return undefined;
}

/** `Programmed` is not of the standard, but some implementations say it of routes too. */
const REQUIRED: ReadonlySet<string> = new Set(['Accepted', 'ResolvedRefs', 'Programmed']);

function isSame(one: ParentRef, other: ParentRef, namespace: string | undefined): boolean {
  const keyOf = (ref: ParentRef): string =>
    [
      ...[ref.group ?? GATEWAY_GROUP, ref.kind ?? 'Gateway', ref.namespace ?? namespace ?? '', ref.name],
      ...[ref.sectionName ?? '', ref.port ?? ''],
    ].join('/');
  return keyOf(one) === keyOf(other);
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** A duration of the Gateway API: `1h30m`, `10s500ms`. Zero means no timeout at all. */
function millisecondsOf(text = ''): number {
  const parts = text.slice(0, LONGEST_DURATION).matchAll(/(\d{1,5})(ms|[hms])/g);
  return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0), 0);
}

/** `99999h` four times. */
const LONGEST_DURATION = 32;
