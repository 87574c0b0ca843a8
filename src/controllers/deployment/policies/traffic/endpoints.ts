import type { ApiClient } from '@rollkeeper/runtime';
import { EndpointSlice } from '@rollkeeper/machinery/kubernetes';
import { SERVICE_NAME_LABEL } from '../../../shared/index.js';

/** The names of the pods behind a Service that may have requests, by the Service's name. */
export type ReadyEndpoints = ReadonlyMap<string, ReadonlySet<string>>;

/** The endpoints as they are now: read before a share rises, so that nothing is watched for them. */
export async function readEndpoints(
  client: Pick<ApiClient, 'list'>,
  { namespace, services }: { readonly namespace: string | undefined; readonly services: readonly string[] },
  signal: AbortSignal,
): Promise<ReadyEndpoints> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const service of services) {
    const labelSelector = `${SERVICE_NAME_LABEL}=${service}`;
    const { items } = await client.list<EndpointSlice>(EndpointSlice, { namespace, labelSelector, signal });
    found.set(service, new Set(items.flatMap(readyPods)));
  }
  return found;
}

/** An unknown condition counts as ready, as the API says. */
function readyPods({ endpoints }: EndpointSlice): readonly string[] {
  return (endpoints ?? []).flatMap(({ conditions, targetRef }) =>
    conditions?.ready !== false && targetRef?.kind === 'Pod' ? (targetRef.name ?? []) : [],
  );
}
