import type { ApiClient } from '@rollkeeper/runtime';
import { isNotFound } from '@rollkeeper/runtime';
import { StaleCacheError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { Service } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { keptSizeOf } from '../../kubernetes/held-sizes.js';

/** The hashes that no Service may select by when ReplicaSets become smaller than all. */
export interface Unserved {
  readonly service: string;
  readonly hashes: ReadonlySet<string>;
}

/** The ReplicaSets that the pass makes smaller than all, or than what one that is kept needs, where a Service may select one of them alone. */
export function unservedBy(draft: RolloutDraft): Unserved | undefined {
  const { servedBy } = draft.limits;
  if (!servedBy) return undefined;
  const shrunk = draft.living.filter(
    (set) => set.replicas < keptSizeOf(draft, set) && set.replicas < (set.observed?.spec.replicas ?? 0),
  );
  const hashes = new Set(shrunk.flatMap(({ labels }) => labels[POD_TEMPLATE_HASH] ?? []));
  return hashes.size === 0 ? undefined : { service: servedBy.service, hashes };
}

/**
 * Checks with the API, bypassing the cache, that the active Service does not select what is about to go: ReplicaSets and Services have
 * separate watches, and another hand may have moved the Service back. One request per rollout.
 * @throws StaleCacheError if it does: retry when the cache knows it too
 */
export async function recheckService(
  { metadata: { name, namespace } }: DeepReadonly<Deployment>,
  { hashes, service }: Unserved,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const found = await readService(client, { namespace, name: service }, signal);
  if (hashes.has(found?.spec.selector?.[POD_TEMPLATE_HASH] ?? ''))
    throw new StaleCacheError(
      `Deployment ${namespace}/${name}: Service ${service} selects pods that were to go`,
    );
}

async function readService(
  client: ApiClient,
  ref: { readonly namespace?: string; readonly name: string },
  signal: AbortSignal,
): Promise<Service | undefined> {
  try {
    return await client.get<Service>(Service, ref, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
