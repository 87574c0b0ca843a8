import { redactText } from '@rollkeeper/machinery/logging';
import { describeRedis } from '@rollkeeper/redis/connection';
import type { CompiledReplicaOptions } from './replica.options.js';

const HIDDEN = '(hidden)';
const SECRET = /token|password|secret|kubeconfig|private-key/i;

/** The options as they can be given. Hides passwords in URLs and names of secret files; what was made of options is not shown. */
export function withoutSecrets({
  adminTls,
  checkResults: _checkResults,
  definitions,
  deploymentApis: _apis,
  elsewhere: _elsewhere,
  eventSinks: _eventSinks,
  evictionWebhook: _evictionWebhook,
  oidc: _oidc,
  clusters: _clusters,
  'redis-url': redisUrl,
  scope,
  syncTimeoutMsOf,
  workersOf,
  ...options
}: CompiledReplicaOptions): Record<string, unknown> {
  const shown = Object.entries(options).map(([name, value]: [string, unknown]) => {
    if (SECRET.test(name) && value !== undefined) return [name, HIDDEN] as const;
    return [name, typeof value === 'string' ? redactText(value) : value] as const;
  });
  return {
    ...Object.fromEntries(shown),
    'redis-url': redisUrl === undefined ? undefined : describeRedis(redisUrl),
    controllers: definitions.map(({ name }) => name),
    scope: { namespaces: scope.namespaces, selector: scope.selector },
    workers: Object.fromEntries(workersOf),
    'admin-serves': adminTls.serves,
    'sync-timeout-ms': Object.fromEntries(syncTimeoutMsOf),
  };
}
