import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ApiRequest, RawResponse } from '../http/index.js';
import type { Storage, UnreadableObjects } from '../storage/index.js';

const PROBES = ['healthz', 'livez', 'readyz'] as const;

/**
 * Checks of a genuine server that can be asked for by name. Ours does what they are about before it listens, so that
 * they are fulfilled whenever it answers.
 */
const HOOKS: readonly string[] = [
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-wait-for-first-sync',
  'poststarthook/bootstrap-controller',
  'poststarthook/crd-informer-synced',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/kube-apiserver-autoregistration',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/storage-readiness',
];
const OF_ALL = ['autoregister-completion', 'log', 'ping', ...HOOKS];
const CHECKS: Readonly<Record<(typeof PROBES)[number], readonly string[]>> = {
  healthz: [...OF_ALL, 'etcd', 'loopback-serving-certificate'].sort(),
  livez: [...OF_ALL, 'etcd', 'loopback-serving-certificate'].sort(),
  readyz: [...OF_ALL, 'informer-sync', 'shutdown'].sort(),
};
/** Checks that ask the store, under the names that the genuine server has for it. */
const OF_STORE: ReadonlySet<string> = new Set(['etcd', 'poststarthook/storage-readiness']);

/** All paths of checks: `/livez/ping`. */
export const HEALTH_PATHS: readonly string[] = PROBES.flatMap((probe) => [
  `/${probe}`,
  ...CHECKS[probe].map((check) => `/${probe}/${check}`),
]);
const known: ReadonlySet<string> = new Set(HEALTH_PATHS);

export function isHealthPath(path: string): boolean {
  return known.has(path);
}

/**
 * `/livez` says that the process answers, the other two that its store does as well, and `/livez/NAME` says it of one
 * check. `?verbose` names the checks.
 */
export async function handleHealth(
  storage: Pick<Storage, 'ping'>,
  unreadable: Pick<UnreadableObjects, 'names'>,
  request: Pick<ApiRequest, 'path' | 'query'>,
): Promise<RawResponse> {
  const [, probe = '', ...rest] = request.path.split('/');
  const check = rest.join('/');
  const asksStore = check === '' ? probe !== 'livez' : OF_STORE.has(check);
  const problem = asksStore ? await storage.ping().then(() => undefined, errorMessage) : undefined;
  const healthy = problem === undefined;
  if (check !== '') {
    return text(healthy ? 200 : 500, healthy ? 'ok' : `internal server error: ${check}: reason withheld\n`);
  }
  const lines = [
    '[+]ping ok',
    ...(asksStore ? [healthy ? '[+]storage ok' : '[-]storage failed: reason withheld'] : []),
  ];
  const { length } = unreadable.names;
  // Which ones is only logged: the client may be anonymous. The server works without them.
  if (length > 0) lines.push(`[!]objects: ${length} in the store cannot be understood, the log names them`);
  const verdict = `${probe} check ${healthy ? 'passed' : 'failed'}`;
  const verbose = request.query.has('verbose') || !healthy;
  return text(healthy ? 200 : 500, verbose ? `${lines.join('\n')}\n${verdict}\n` : 'ok');
}

const PLAIN_TEXT = { 'X-Content-Type-Options': 'nosniff' };

function text(status: number, raw: string): RawResponse {
  return { status, raw, contentType: 'text/plain; charset=utf-8', headers: PLAIN_TEXT };
}
