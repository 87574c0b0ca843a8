import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Clock } from '@rollkeeper/machinery/clock';
import { Pod, isTerminating } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { isConflict, isNotFound } from '@rollkeeper/runtime';
import { toError } from '@rollkeeper/machinery/errors';
import type { PodInfo, ReadablePod } from '../framework/node-info.js';
import type { WaitingPods } from '../framework/plugin.js';

interface EvictionParts {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly waitingPods: WaitingPods;
}

export interface Preemption {
  readonly pod: PodInfo;
  readonly node: string;
  readonly victims: readonly PodInfo[];
  readonly schedulerName: string;
}

/**
 * Makes room for a pod: each victim learns why, and is deleted with its own grace period. One whose binding is delayed is not bound.
 * @throws the first failure of the API, once all victims have been tried
 */
export async function evictVictims(
  parts: EvictionParts,
  preemption: Preemption,
  signal: AbortSignal,
): Promise<void> {
  const evictions = preemption.victims.map(({ pod }) => evict(parts, preemption, pod, signal));
  const failed = (await Promise.allSettled(evictions)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw toError(failed.reason);
}

async function evict(
  { client, clock, events, waitingPods }: EvictionParts,
  { node, pod, schedulerName }: Preemption,
  victim: ReadablePod,
  signal: AbortSignal,
): Promise<void> {
  const { generation, name, namespace, uid = '' } = victim.metadata;
  const waiting = waitingPods.get(uid);
  if (waiting) waiting.reject('DefaultPreemption', 'preempted');
  else if (isTerminating(victim)) return;
  else {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${schedulerName}: preempting to accommodate a higher priority pod`,
      lastTransitionTime: toRfc3339(clock.now()),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const ref = { namespace, name };
    try {
      await client.patch(Pod, ref, { type: 'strategic', body }, { subresource: 'status', signal });
      await client.delete(Pod, ref, { preconditions: { uid }, signal });
    } catch (error) {
      // The victim no longer exists, and another pod may have its name.
      if (isNotFound(error) || isConflict(error)) return;
      throw error;
    }
  }
  const message = `Preempted by pod ${pod.pod.metadata.uid ?? ''} on node ${node}`;
  events.record(victim, { type: 'Normal', reason: 'Preempted', action: 'Preempting', message });
}
