import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Pod, isControlledBy, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { Lister, ReconcileContext } from '@rollkeeper/runtime';
import { isNotFound } from '@rollkeeper/runtime';
import type { DeleteOutcome, DoomedPod } from '../shared/index.js';
import {
  FAILED_DELETE,
  drainPatch,
  isRefusal,
  keepOldRule,
  mayHaveSessions,
  renderDrainCondition,
} from '../shared/index.js';

/** On a ReplicaSet: a pod of it drains in place of being deleted. */
const POD_DRAINS = 'PodDrains';

/**
 * Lets a pod drain in place of deleting it. It returns undefined for a pod that has no sessions, which is deleted.
 * @returns undefined if the pods of this ReplicaSet do not drain
 */
export function drainOf(
  replicaSet: DeepReadonly<ReplicaSet>,
  { clock, pods }: { readonly clock: Clock; readonly pods: Lister<Pod> },
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): ((doomed: DoomedPod) => Promise<DeleteOutcome> | undefined) | undefined {
  const rule = keepOldRule(replicaSet);
  if (!rule) return undefined;
  const { namespace } = replicaSet.metadata;
  return (doomed) => {
    const ref = { namespace, name: doomed.name };
    const pod = pods.get(keyOf(ref));
    if (pod?.metadata.uid !== doomed.uid || !isControlledBy(pod, replicaSet) || !mayHaveSessions(pod))
      return undefined;
    const body = drainPatch(pod, replicaSet, rule, clock.now());
    const write = async (): Promise<DeleteOutcome> => {
      try {
        signal.throwIfAborted();
        await client.patch<Pod>(Pod, ref, { type: 'merge', body }, { signal });
      } catch (error) {
        // A conflict is none: the pod was written by others meanwhile, and still runs.
        if (isNotFound(error)) return { kind: 'gone', pod: doomed };
        const message = `Error draining: ${errorMessage(error)}`;
        if (!signal.aborted) events.record(replicaSet, { type: 'Warning', reason: FAILED_DELETE, message });
        return { kind: isRefusal(error) ? 'refused' : 'unknown', pod: doomed, error };
      }
      const message = `Pod ${doomed.name} has left its Service and drains until ${renderDrainCondition(rule.until)}`;
      events.record(replicaSet, { type: 'Normal', reason: POD_DRAINS, message });
      return { kind: 'deleted', pod: doomed };
    };
    return write();
  };
}
