import type { Clock } from '@rollkeeper/machinery/clock';
import type { ApiServerMetrics, ServedRequest } from './api-server-metrics.js';
import type { ApiRequest, RequestSort } from '../http/index.js';
import type { KindRegistry } from '../kinds/index.js';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const METHODS: ReadonlySet<string> = new Set([...READS, 'POST', 'PUT', 'PATCH', 'DELETE']);

export interface CountedRequest {
  readonly sort: RequestSort;
  /** Its body was received. */
  received(bytes: number): void;
  /** It was answered; a watch has ended. */
  done(code: number): void;
  /** It was refused, or ended before its end, so that others are served. */
  terminated(code: number): void;
}

/** Counts a request from here until its answer is reported. */
export function countRequest(
  request: ApiRequest,
  kinds: KindRegistry,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: ApiServerMetrics },
): CountedRequest {
  const described = describeRequest(request, kinds);
  const startedMs = clock.monotonicNow();
  const sort = isLongRunning(described, request)
    ? 'watch'
    : READS.has(request.method)
      ? 'readOnly'
      : 'mutating';
  metrics.inFlight(sort, 1);
  if (isDeprecated(described, kinds)) metrics.deprecated(described);
  return {
    sort,
    received: (bytes) => metrics.received(described, bytes),
    done(code) {
      metrics.inFlight(sort, -1);
      metrics.served(described, code, clock.monotonicNow() - startedMs);
    },
    terminated: (code) => metrics.terminated(described, code),
  };
}

function isDeprecated({ group, resource, version }: ServedRequest, kinds: KindRegistry): boolean {
  return resource !== '' && kinds.find(group, version, resource)?.deprecation !== undefined;
}

/** Answered as long as the client likes: it must not hold the place of one that ends. */
function isLongRunning({ verb, subresource }: ServedRequest, request: ApiRequest): boolean {
  return verb === 'WATCH' || (subresource === 'log' && request.flag('follow'));
}

/** Labels have only names that the server knows, so that no client can create new series. */
function describeRequest(request: ApiRequest, kinds: KindRegistry): ServedRequest {
  const method = METHODS.has(request.method) ? request.method : 'other';
  const nothing = { verb: method, group: '', version: '', resource: '', subresource: '', scope: '' } as const;
  const path = targetOf(request);
  const kind = path && kinds.find(path.group, path.version, path.resource);
  if (!path || !kind) return nothing;
  const { group, name, namespace, prefix, resource, subresource, version } = path;
  return {
    verb: prefix === 'watch' ? 'WATCH' : verbOf(method, name, request),
    group,
    version,
    resource,
    subresource: kind.subresources.includes(subresource) ? subresource : '',
    scope: name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster',
  };
}

function verbOf(method: string, name: string, request: ApiRequest): string {
  if (name !== '') return method;
  if (method === 'GET') return request.flag('watch') ? 'WATCH' : 'LIST';
  return method === 'DELETE' ? 'DELETECOLLECTION' : method;
}

function targetOf(request: ApiRequest): ApiRequest['target'] {
  try {
    return request.target;
  } catch {
    return undefined;
  }
}
