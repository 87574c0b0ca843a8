import type { HTTPRoute, RouteMatch, RouteRule, ValueMatch } from './gateway-api.ts';

/** The parts of a request that rules look at. */
export interface SeenRequest {
  readonly method: string;
  /** Without a port, in lower case. */
  readonly host: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A match of a rule, and what its precedence among all others depends on. */
export interface Candidate {
  readonly route: HTTPRoute;
  readonly rule: RouteRule;
  readonly ruleIndex: number;
  readonly match: RouteMatch;
}

/**
 * The matches of these routes in the order of precedence of the Gateway API: the exact path, the longest prefix, a method,
 * the most headers, the most query parameters; then the oldest route, its name, and the first rule. Regular expressions
 * of paths, whose precedence the specification leaves open, come after prefixes.
 */
export function inOrderOfPrecedence(routes: readonly HTTPRoute[]): readonly Candidate[] {
  return routes.flatMap(candidatesOf).sort(compareCandidates);
}

/** Whether a request is for one of the route's hosts, and does all that the match asks for. */
export function matches({ match, route }: Candidate, request: SeenRequest): boolean {
  const { hostnames = [] } = route.spec;
  return (
    (hostnames.length === 0 || hostnames.some((hostname) => isHostOf(hostname, request.host))) &&
    matchesPath(match, request.path) &&
    (match.method === undefined || match.method === request.method) &&
    (match.headers ?? []).every((each) => matchesValue(each, headerOf(request, each.name))) &&
    (match.queryParams ?? []).every((each) => matchesValue(each, request.query.get(each.name) ?? undefined))
  );
}

/** Whether a host is the one that is named, or is below `*.` and it. */
export function isHostOf(hostname: string, host: string): boolean {
  return hostname.startsWith('*.') ? host.endsWith(hostname.slice(1)) : host === hostname;
}

function candidatesOf(route: HTTPRoute): readonly Candidate[] {
  return (route.spec.rules ?? []).flatMap((rule, ruleIndex) =>
    (rule.matches?.length ? rule.matches : [{}]).map((match) => ({ route, rule, ruleIndex, match })),
  );
}

function compareCandidates(a: Candidate, b: Candidate): number {
  const [ranksA, ranksB] = [ranksOf(a.match), ranksOf(b.match)];
  const differing = ranksA.findIndex((rank, index) => rank !== ranksB[index]);
  if (differing >= 0) return (ranksB[differing] ?? 0) - (ranksA[differing] ?? 0);
  return compareText(ageOf(a), ageOf(b)) || compareText(nameOf(a), nameOf(b)) || a.ruleIndex - b.ruleIndex;
}

function ranksOf({ headers = [], method, path, queryParams = [] }: RouteMatch): readonly number[] {
  const { type = 'PathPrefix', value = '/' } = path ?? {};
  return [
    Number(type === 'Exact'),
    type === 'PathPrefix' ? value.length : 0,
    Number(method !== undefined),
    headers.length,
    queryParams.length,
  ];
}

const ageOf = ({ route }: Candidate): string => route.metadata.creationTimestamp ?? '';
const nameOf = ({ route: { metadata } }: Candidate): string => `${metadata.namespace}/${metadata.name}`;

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A prefix ends where a part of the path ends: `/app` has `/app` and `/app/a` below it, and not `/apple`. */
function matchesPath({ path }: RouteMatch, requested: string): boolean {
  const { type = 'PathPrefix', value = '/' } = path ?? {};
  if (type === 'Exact') return requested === value;
  if (type === 'RegularExpression') return matchesExpression(value, requested);
  const prefix = value.endsWith('/') ? value.slice(0, -1) : value;
  return requested === prefix || requested.startsWith(`${prefix}/`);
}

/** Cookies have no match of their own in the Gateway API: they are in the header of that name. */
function headerOf({ headers }: SeenRequest, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'object' ? value.join(', ') : value;
}

function matchesValue({ type = 'Exact', value }: ValueMatch, actual: string | undefined): boolean {
  if (actual === undefined) return false;
  return type === 'Exact' ? actual === value : matchesExpression(value, actual);
}

/**
 * The whole text must match, as it must for Envoy. The expression is compiled again for each request, which is enough for
 * an example; it is the one of the route, whose writer can stop this gateway with a slow one.
 */
function matchesExpression(expression: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${expression})$`).test(text);
  } catch {
    return false;
  }
}
