import type { GRPCRoute, HTTPRoute, MethodMatch, RouteMatch } from './gateway-api.ts';

/** The name of a service or a method, which has no slash. */
const ANY_NAME = '[^/]+';

/** The HTTPRoute that answers what a GRPCRoute does: a call of a method is a request of its path. */
export function asHttpRoute({ spec, ...route }: GRPCRoute): HTTPRoute {
  const rules = (spec.rules ?? []).map(({ matches = [], ...rule }) => ({
    ...rule,
    matches: matches.map(({ headers, method }) => ({ ...pathOf(method), ...(headers && { headers }) })),
  }));
  return { ...route, spec: { ...spec, rules } };
}

function pathOf({ method, service, type = 'Exact' }: MethodMatch = {}): Pick<RouteMatch, 'path'> {
  if (type === 'RegularExpression')
    return { path: { type, value: `/${service ?? ANY_NAME}/${method ?? ANY_NAME}` } };
  if (service !== undefined)
    return {
      path: method === undefined ? { value: `/${service}` } : { type, value: `/${service}/${method}` },
    };
  return method === undefined ? {} : { path: { type: 'RegularExpression', value: `/${ANY_NAME}/${method}` } };
}
