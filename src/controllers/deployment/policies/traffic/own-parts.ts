import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { NamedValue, Share } from '../common/share.js';
import type { ManagedRule } from './managed-rules.js';
import { ADDED_RULE, MOST_RULES } from './steered-by.js';
import type {
  BackendRef,
  FullRule,
  HeaderMatch,
  RouteFilter,
  RouteMatch,
  WeightedRoute,
} from './route-part.js';

/** The parts of a route beside weights that belong to the rollout of a Deployment. */
export interface OwnParts {
  /** Requests with one of these are for the canary alone. */
  readonly matches: readonly HeaderMatch[];
  /** Copies of this share of the requests go to the canary, percent. */
  readonly mirror: number;
  /** The answers of the canary set this cookie: the value of a Set-Cookie header. @default none */
  readonly setCookie?: string;
}

/** Nothing beside weights. */
export const NO_PARTS: OwnParts = { matches: [], mirror: 0 };

/** How users that met the canary stay on it. */
export interface Sticky {
  /** The name of the cookie. */
  readonly cookie: string;
  /** The version. */
  readonly hash: string;
  readonly maxAgeMs: number;
}

/** @param sticky absent: each request is drawn for itself */
export function partsOf(
  { cookie, header, mirror = 0, percent }: Share,
  sticky: Sticky | undefined,
): OwnParts {
  const isSticky = sticky !== undefined && percent > 0 && percent < 100;
  const { cookie: name = '', hash: value = '', maxAgeMs = 0 } = sticky ?? {};
  return {
    matches: [
      ...(header ? [{ type: 'Exact' as const, ...header }] : []),
      ...(cookie ? [cookieMatch(cookie)] : []),
      ...(isSticky ? [cookieMatch({ name, value })] : []),
    ],
    mirror,
    ...(isSticky && {
      setCookie: `${name}=${value}; Max-Age=${Math.ceil(maxAgeMs / 1000)}; Path=/; HttpOnly`,
    }),
  };
}

/** The cookie by which users stay on the canary of a Deployment. */
export function stickyCookie(deployment: string): string {
  return `rollkeeper-${deployment}`;
}

/** Cookies have no match of their own. The anchors make the same of it where the whole value must match and where a part is enough. */
function cookieMatch({ name, value }: NamedValue): HeaderMatch {
  const text = `${name}=${value}`.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  return { type: 'RegularExpression', name: 'Cookie', value: `^(.*;\\s*)?${text}(\\s*;.*)?$` };
}

/** The place of a rule that a Deployment has added, in `spec.rules`. */
export interface AddedRule {
  readonly at: number;
  readonly whole: DeepReadonly<FullRule> | undefined;
}

/** The rules that rollouts of a Deployment have added to a route. Their names tell, so another process finds them as well. */
export function addedRulesOf(route: DeepReadonly<WeightedRoute>, deployment: string): readonly AddedRule[] {
  const prefix = prefixOf(deployment);
  return route.rules.flatMap(({ name = '', whole }, at) =>
    name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)) ? [{ at, whole }] : [],
  );
}

/** The longest name of a rule. */
const LONGEST_NAME = 253;

function prefixOf(deployment: string): string {
  return `${ADDED_RULE}${deployment}.`;
}

function isNameable(deployment: string): boolean {
  return prefixOf(deployment).length <= LONGEST_NAME - 2;
}

/**
 * The rules that a route needs beside its managed ones: each takes the requests of one of these that have a header or a cookie as well. It
 * asks for more headers than that rule, and therefore comes before it (precedence of `HTTPRouteRule.matches` in the specification).
 * @param rules the managed ones of one route
 */
export function neededRules(
  rules: readonly ManagedRule[],
  deployment: string,
  { matches }: OwnParts,
): readonly FullRule[] {
  if (matches.length === 0) return [];
  return rules.flatMap((rule, index) => {
    const { whole } = rule.route.rules[rule.at] ?? {};
    const backend = whole?.backendRefs?.[rule.canary.at];
    if (!whole || !backend) return [];
    const { backendRefs: _others, filters: _filters, matches: given, name: _name, ...rest } = whole;
    const filters = filtersOf(rule, NO_PARTS);
    const backendFilters = backendFiltersOf(rule, NO_PARTS, deployment);
    return [
      {
        ...rest,
        name: `${prefixOf(deployment)}${index + 1}`,
        matches: (given?.length ? given : [anyRequest(rule)]).flatMap((match) =>
          matches.map((own) => ({ ...match, headers: [...(match.headers ?? []), own] })),
        ),
        ...(filters.length > 0 && { filters }),
        backendRefs: [withFilters({ ...backend, weight: 1 }, backendFilters)],
      },
    ];
  });
}

/** The match that the definition of an HTTPRoute gives a rule without one; a GRPCRoute has none. */
function anyRequest({ kind }: ManagedRule): RouteMatch {
  return kind === 'httproute' ? { path: { type: 'PathPrefix', value: '/' } } : {};
}

function withFilters(
  { filters: _before, ...backend }: BackendRef,
  filters: readonly RouteFilter[],
): BackendRef {
  return filters.length > 0 ? { ...backend, filters } : backend;
}

/** The filters that a managed rule needs: others stay as they are. Copies to the canary Service are those of the rollout. */
export function filtersOf(rule: ManagedRule, { mirror }: OwnParts): readonly RouteFilter[] {
  const { whole } = rule.route.rules[rule.at] ?? {};
  const canary = whole?.backendRefs?.[rule.canary.at];
  const others = (whole?.filters ?? []).filter(
    ({ requestMirror }) => !canary || !requestMirror || !isSameBackend(requestMirror.backendRef, canary),
  );
  if (mirror === 0 || !canary) return others;
  const { name, port } = canary;
  const backendRef = { group: '', kind: 'Service', name, ...(port !== undefined && { port }) };
  return [...others, { type: 'RequestMirror', requestMirror: { backendRef, percent: mirror } }];
}

function isSameBackend(one: BackendRef, other: BackendRef): boolean {
  const { group = '', kind = 'Service', name, namespace } = one;
  const isHere = namespace === undefined || namespace === other.namespace;
  return group === '' && kind === 'Service' && name === other.name && isHere;
}

/** The filters that the canary's backend of a managed rule needs: others stay as they are. */
export function backendFiltersOf(
  rule: ManagedRule,
  { setCookie }: OwnParts,
  deployment: string,
): readonly RouteFilter[] {
  const { whole } = rule.route.rules[rule.at] ?? {};
  const given = whole?.backendRefs?.[rule.canary.at]?.filters ?? [];
  const others = given.filter((filter) => !setsOwnCookie(filter, deployment));
  if (setCookie === undefined) return others;
  const add = [{ name: 'Set-Cookie', value: setCookie }];
  return [...others, { type: 'ResponseHeaderModifier', responseHeaderModifier: { add } }];
}

/** Whether a filter sets the cookie by which users stay on the canary of a Deployment. */
export function setsOwnCookie({ responseHeaderModifier }: RouteFilter, deployment: string): boolean {
  const { add = [], remove = [], set = [] } = responseHeaderModifier ?? {};
  const [only] = add;
  if (add.length !== 1 || set.length + remove.length > 0 || !only) return false;
  return only.name.toLowerCase() === 'set-cookie' && only.value.startsWith(`${stickyCookie(deployment)}=`);
}

/** Whether the routes of these rules have exactly these parts of the Deployment's rollout. */
export function haveParts(rules: readonly ManagedRule[], deployment: string, parts: OwnParts): boolean {
  return [...Map.groupBy(rules, ({ route }) => route)].every(
    ([route, own]) =>
      hasRules(route, own, deployment, parts) && own.every((rule) => hasFilters(rule, deployment, parts)),
  );
}

/** Whether a route has exactly the added rules that go with these parts. */
export function hasRules(
  route: DeepReadonly<WeightedRoute>,
  own: readonly ManagedRule[],
  deployment: string,
  parts: OwnParts,
): boolean {
  const added = addedRulesOf(route, deployment).map(({ whole }) => whole);
  return semanticEqual(added, neededRules(own, deployment, parts));
}

/** Whether a managed rule has exactly the filters that go with these parts. */
export function hasFilters(rule: ManagedRule, deployment: string, parts: OwnParts): boolean {
  const { whole } = rule.route.rules[rule.at] ?? {};
  const given = whole?.backendRefs?.[rule.canary.at]?.filters ?? [];
  return (
    semanticEqual(whole?.filters ?? [], filtersOf(rule, parts)) &&
    semanticEqual(given, backendFiltersOf(rule, parts, deployment))
  );
}

/** The most matches of a rule, matches of all rules, and headers of a match that the definition of a route allows. */
const MOST_MATCHES = 64;
const MOST_MATCHES_OF_ROUTE = 128;
const MOST_HEADERS = 16;

/** Why a route cannot have these parts; `undefined` if it can. */
export function partsProblem(
  rules: readonly ManagedRule[],
  deployment: string,
  parts: OwnParts,
): string | undefined {
  if (parts.matches.length > 0 && !isNameable(deployment))
    return 'the name of the Deployment is too long for the name of a rule';
  for (const [route, own] of Map.groupBy(rules, (rule) => rule.route)) {
    const title = `${route.kind} "${route.metadata.name}"`;
    const needed = neededRules(own, deployment, parts);
    const added = new Set(addedRulesOf(route, deployment).map(({ at }) => at));
    const others = route.rules.filter((_rule, at) => !added.has(at));
    if (others.length + needed.length > MOST_RULES)
      return `${title} has no room for ${needed.length} more rules: ${MOST_RULES} are the most`;
    const counts = needed.map(({ matches = [] }) => matches.length);
    const sum = [...counts, ...others.map(({ matches }) => matches)].reduce((total, each) => total + each, 0);
    const isMatched = parts.matches.length > 0;
    if (isMatched && (Math.max(0, ...counts) > MOST_MATCHES || sum > MOST_MATCHES_OF_ROUTE))
      return `${title} has no room for more matches`;
    for (const { at } of own) {
      const problem = ruleProblem(route.rules[at]?.whole, parts);
      if (problem !== undefined) return `rule ${at + 1} of ${title} ${problem}`;
    }
    const taken = own.find((rule) => parts.setCookie !== undefined && changesAnswers(rule, deployment));
    if (taken) return `rule ${taken.at + 1} of ${title} changes headers of the canary's answers itself`;
  }
  return undefined;
}

function ruleProblem(whole: DeepReadonly<FullRule> | undefined, parts: OwnParts): string | undefined {
  const names = new Set(parts.matches.map(({ name }) => name.toLowerCase()));
  for (const { headers = [] } of whole?.matches ?? []) {
    const same = headers.find(({ name }) => names.has(name.toLowerCase()));
    if (same) return `matches the header ${same.name} itself`;
    if (names.size > 0 && headers.length >= MOST_HEADERS) return 'has no room for another header to match';
  }
  return undefined;
}

function changesAnswers(rule: ManagedRule, deployment: string): boolean {
  return backendFiltersOf(rule, NO_PARTS, deployment).some(({ type }) => type === 'ResponseHeaderModifier');
}
