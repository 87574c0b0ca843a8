import type { HeaderChange, RouteFilter } from './gateway-api.ts';

/** Header fields with names in lower case. */
export type Headers = Record<string, string | string[] | undefined>;

/** The header of a request after the filters of the rule and of the chosen backend. */
export function changeRequestHeaders(headers: Headers, filters: readonly RouteFilter[]): Headers {
  return filters.reduce((result, filter) => changed(result, filter.requestHeaderModifier), headers);
}

/** The header of a response after the filters of the rule and of the chosen backend. */
export function changeResponseHeaders(headers: Headers, filters: readonly RouteFilter[]): Headers {
  return filters.reduce((result, filter) => changed(result, filter.responseHeaderModifier), headers);
}

function changed(headers: Headers, change: HeaderChange | undefined): Headers {
  if (!change) return headers;
  const result = { ...headers };
  for (const { name, value } of change.set ?? []) result[name.toLowerCase()] = value;
  for (const { name, value } of change.add ?? []) {
    const before = result[name.toLowerCase()];
    result[name.toLowerCase()] = before === undefined ? value : [before, value].flat();
  }
  for (const name of change.remove ?? []) delete result[name.toLowerCase()];
  return result;
}
