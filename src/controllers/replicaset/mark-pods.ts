import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Pod } from '@rollkeeper/machinery/kubernetes';
import { counted } from '@rollkeeper/machinery/text';
import type { ReconcileContext } from '@rollkeeper/runtime';
import { isConflict, isNotFound } from '@rollkeeper/runtime';
import type { MarkedPod } from '../shared/index.js';

/** Concurrent writes of one ReplicaSet. */
const WRITES_AT_ONCE = 16;

/**
 * Changes labels and annotations of live pods, none of which restarts. A pod that was deleted or replaced in the meantime is
 * skipped, and its own event follows; any other error fails the sync, after all writes have ended.
 */
export async function markPods(
  replicaSet: DeepReadonly<ReplicaSet>,
  pods: readonly MarkedPod[],
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<void> {
  if (pods.length === 0) return;
  const { namespace } = replicaSet.metadata;
  const writes = new ConcurrencyLimit(WRITES_AT_ONCE);
  const results = await Promise.allSettled(
    pods.map(({ name, patch }) =>
      writes.run(async () => {
        signal.throwIfAborted();
        await client.patch<Pod>(Pod, { namespace, name }, { type: 'merge', body: patch }, { signal });
      }),
    ),
  );
  const marked = results.filter(({ status }) => status === 'fulfilled').length;
  if (marked > 0)
    events.record(replicaSet, {
      type: 'Normal',
      reason: 'PodsMarked',
      message: `Changed labels or annotations of ${counted(marked, 'pod')} in place`,
    });
  for (const result of results)
    if (result.status === 'rejected' && !isNotFound(result.reason) && !isConflict(result.reason))
      throw result.reason;
}
