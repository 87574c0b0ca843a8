import type { ApiClient } from '@rollkeeper/runtime';
import type { RouteWrite } from '../common/route-write.js';
import { GRPCRoute, HTTPRoute } from './routes.js';

/**
 * Writes weights, and nothing else of the route. Its rules and backends are atomic lists, which no merge could change in part: so
 * the patch names places, and holds only for the version of the route in which they were seen.
 * @throws ApiStatusError Conflict if it has changed meanwhile: the next pass decides again
 */
export async function writeRoute(
  { kind, name, namespace, resourceVersion, weights }: RouteWrite,
  { client, signal }: { readonly client: Pick<ApiClient, 'patch'>; readonly signal: AbortSignal },
): Promise<void> {
  const body = [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...weights.map(({ backend, rule, weight }) => ({
      op: 'add',
      path: `/spec/rules/${rule}/backendRefs/${backend}/weight`,
      value: weight,
    })),
  ];
  const [ref, patch] = [{ namespace, name }, { type: 'json', body } as const];
  if (kind === 'grpcroute') await client.patch(GRPCRoute, ref, patch, { signal });
  else await client.patch(HTTPRoute, ref, patch, { signal });
}
