import { badRequest } from '../errors/index.js';

/** What a path below `/api` or `/apis` addresses, before anybody knows whether such a resource exists. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
}

/**
 * Takes `/api/v1/...` or `/apis/GROUP/VERSION/...` apart. A namespace's own path is that of the resource
 * `namespaces`, as in a genuine server's request info.
 * @returns undefined for paths that address no resource
 */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return undefined;
  const [group, version, ...rest] = core ? ['', ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined || rest.length === 0 || rest.length > 6) return undefined;
  const base = { group, version };
  if (rest[0] === 'namespaces' && rest.length >= 3 && !isNamespaceSubresource(rest)) {
    const [, namespace = '', resource = '', name = '', subresource = ''] = rest;
    return rest.length > 5 ? undefined : { ...base, namespace, resource, name, subresource };
  }
  const [resource = '', name = '', subresource = ''] = rest;
  return rest.length > 3 ? undefined : { ...base, namespace: '', resource, name, subresource };
}

function isNamespaceSubresource(rest: readonly string[]): boolean {
  return rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize');
}

function decode(part: string): string {
  try {
    return part.includes('%') ? decodeURIComponent(part) : part;
  } catch (error) {
    throw badRequest(`the path segment ${JSON.stringify(part)} is not well-formed`, error);
  }
}
