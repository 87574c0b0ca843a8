import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { apiStatusOf } from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { warning } from '../common/tell.js';
import type { RouteWrite } from '../common/route-write.js';
import { GRPCRoute, HTTPRoute } from './routes.js';

/**
 * Writes single places of a route, and nothing else of it. Its rules and backends are atomic lists, which no merge could change in part:
 * so the patch names places, and holds only for the version of the route in which they were seen. A server whose definition of the kind
 * does not know a field refuses it, so that no rule is left whose name was not kept.
 * @throws ApiStatusError Conflict if it has changed meanwhile: the next pass decides again
 */
export async function writeRoute(
  { changes, kind, name, namespace, resourceVersion }: RouteWrite,
  { client, signal }: { readonly client: Pick<ApiClient, 'patch'>; readonly signal: AbortSignal },
): Promise<void> {
  const body = [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }, ...changes];
  const [ref, patch] = [{ namespace, name }, { type: 'json', body } as const];
  const options = { signal, fieldValidation: 'Strict' } as const;
  if (kind === 'grpcroute') await client.patch(GRPCRoute, ref, patch, options);
  else await client.patch(HTTPRoute, ref, patch, options);
}

interface RouteWriter {
  readonly client: Pick<ApiClient, 'patch'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly signal: AbortSignal;
}

/** The statuses of a write that is refused again however often it is tried: invalid, forbidden, or of no sense to the server. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

/**
 * The same, with an Event if the server refuses it: its definition of the kind may be older than the field, or
 * an admission webhook may forbid the change.
 * @param about the object of the Event
 * @throws ApiStatusError as {@link writeRoute}
 */
export async function steerRoute(
  about: DeepReadonly<KubernetesObject>,
  write: RouteWrite,
  { client, events, signal }: RouteWriter,
): Promise<void> {
  try {
    await writeRoute(write, { client, signal });
  } catch (error) {
    if (REFUSALS.has(apiStatusOf(error)?.code ?? 0)) {
      const message = `The server refuses the change of ${write.kind}/${write.name}: ${errorMessage(error)}`;
      events.record(about, warning('RouteRefused', message));
    }
    throw error;
  }
}
