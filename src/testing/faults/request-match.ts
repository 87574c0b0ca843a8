import { attributesOf, parseResourcePath } from '@rollkeeper/apiserver';
import type { IncomingMessage } from 'node:http';

/** A request of a client, as an authoriser would see it. */
export interface SeenRequest {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string;
  readonly group: string;
  /** The plural: `deployments`. */
  readonly resource: string;
  /** Empty: the object itself. */
  readonly subresource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection, or the name is in the body of a create. */
  readonly name: string;
}

/** The requests with all that is named. */
export interface RequestMatch {
  /** One or several. @default any */
  readonly verb?: string | readonly string[];
  /** The plural, with the group where two groups have it: `pods`, `deployments.apps`. @default any */
  readonly resource?: string;
  /** `''`: the object itself alone. @default any */
  readonly subresource?: string;
  /** @default any */
  readonly namespace?: string;
  /** Creates have no name in their path: match them without. @default any */
  readonly name?: string;
}

/** Undefined: it addresses no resource (`/readyz`, discovery), or its path is malformed. */
export function seenRequest({ method = 'GET', url = '/' }: IncomingMessage): SeenRequest | undefined {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const flag = (name: string): boolean => ![null, 'false', '0'].includes(query.get(name));
  try {
    const asked = attributesOf({ method, path, query, flag, target: parseResourcePath(path) });
    if (asked.path !== undefined) return undefined;
    const { group, name, namespace, resource, subresource, verb } = asked;
    return { verb, group, resource, subresource, namespace, name };
  } catch {
    // The server says what is wrong with it.
    return undefined;
  }
}

export function isMatch(match: RequestMatch, request: SeenRequest): boolean {
  const { group, resource } = request;
  const verbs = typeof match.verb === 'string' ? [match.verb] : match.verb;
  if (verbs && !verbs.includes(request.verb)) return false;
  if (match.resource !== undefined && ![resource, `${resource}.${group}`].includes(match.resource))
    return false;
  return (['subresource', 'namespace', 'name'] as const).every(
    (part) => match[part] === undefined || match[part] === request[part],
  );
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

export function isWrite({ verb }: SeenRequest): boolean {
  return WRITES.has(verb);
}

/** `create pods/web-1 in shop` */
export function requestText({ group, name, namespace, resource, subresource, verb }: SeenRequest): string {
  const type = group === '' ? resource : `${resource}.${group}`;
  const path = [type, name, subresource].filter((part) => part !== '').join('/');
  return `${verb} ${path}${namespace === '' ? '' : ` in ${namespace}`}`;
}
