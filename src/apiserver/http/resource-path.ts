import { malformedPath } from '../schema/errors/index.js';

/** The target of a path below `/api` or `/apis`, before checking that the resource exists. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
  /** Behind the subresource: nothing that we serve has it, but the right to the subresource is asked for first. */
  readonly rest: readonly string[];
  /** The old way to ask for a verb: `/api/v1/watch/...`. */
  readonly prefix: '' | 'watch' | 'proxy';
}

/**
 * Takes `/api/v1/...` or `/apis/GROUP/VERSION/...` apart, decoded first, as a genuine server's request info does: rights and
 * routing must see the same path. A namespace's own path is that of the resource `namespaces`.
 * @returns undefined for paths that address no resource
 */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = decode(path)
    .split('/')
    .filter((part) => part !== '');
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return undefined;
  const [group, version, ...behind] = core ? ['', ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined) return undefined;
  const prefix = behind[0] === 'watch' || behind[0] === 'proxy' ? behind[0] : '';
  const [namespace, own] = splitNamespace(prefix === '' ? behind : behind.slice(1));
  const [resource, name = '', subresource = '', ...rest] = own;
  if (resource === undefined) return undefined;
  return { group, version, namespace, resource, name, subresource, rest, prefix };
}

/** The namespace that a path begins with, and what follows. */
function splitNamespace(parts: readonly string[]): readonly [string, readonly string[]] {
  const [first, namespace = '', next] = parts;
  const isOwnPath = next === undefined || next === 'status' || next === 'finalize';
  return first === 'namespaces' && !isOwnPath ? [namespace, parts.slice(2)] : ['', parts];
}

function decode(path: string): string {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path;
  } catch (error) {
    throw malformedPath(`the path ${JSON.stringify(path)} is not well-formed`, error);
  }
}
