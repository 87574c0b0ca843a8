import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { ApiClient, ApiWrite } from '@rollkeeper/client/api-client';
import { WriteInterceptingClient } from '@rollkeeper/client/api-client';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type {
  Decision,
  DecideStep,
  ReconcileRequest,
  ReconcileResult,
  SyncAccess,
} from '../../controller/index.js';

/** Number of writes that a summary names. Further ones are only counted. */
const MOST_NAMED = 8;

type Work = (client: ApiClient) => Promise<ReconcileResult>;

/**
 * Runs a sync that decides as it goes. Its decision is derived from what it has written. It is reported when the sync
 * ends, even with an error, and when the sync has to end.
 */
export async function runTellingWrites(
  work: Work,
  { namespace }: ReconcileRequest,
  { client, signal }: Pick<SyncAccess, 'client' | 'signal'>,
  decide: DecideStep,
): Promise<ReconcileResult> {
  let writes: ApiWrite[] = [];
  const noting = new WriteInterceptingClient(client, async (write, send) => {
    const object = await send();
    // An answer that is no object (a Status) has no metadata.
    const answer: Partial<KubernetesObject> | undefined = object;
    const name = answer?.metadata?.name || write.ref.name;
    writes.push({ ...write, ref: { ...write.ref, name } });
    return object;
  });
  const tell = (): void => {
    if (writes.length === 0) return;
    const told = writes;
    writes = [];
    decide(() => ({ decision: writtenDecision(told, namespace) }));
  };
  const stop = onAbort(signal, tell);
  try {
    return await work(noting);
  } finally {
    stop();
    tell();
  }
}

/** `create pods/web-x; update deployments/web/status`. A status that only follows is no change that anybody asked for. */
export function writtenDecision(writes: readonly ApiWrite[], namespace: string | undefined): Decision {
  const named = writes.slice(0, MOST_NAMED).map((write) => textOf(write, namespace));
  const others = writes.length - named.length;
  return {
    branch: 'reconcile',
    summary: [...named, ...(others > 0 ? [`and ${others} more writes`] : [])].join('; '),
    changes: writes.some(({ subresource }) => subresource !== 'status'),
    afterwards: true,
    inputs: { 'rollkeeper.writes': writes.length },
  };
}

function textOf({ ref, subresource, type, verb }: ApiWrite, namespace: string | undefined): string {
  const elsewhere = ref.namespace !== undefined && ref.namespace !== namespace ? [ref.namespace] : [];
  const path = [type.resource, ...elsewhere, ...(ref.name ? [ref.name] : []), subresource];
  return `${verb} ${path.filter((part) => part !== undefined && part !== '').join('/')}`;
}
