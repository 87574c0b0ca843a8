import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Pod } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import { unlessGone } from '@rollkeeper/runtime';

/** Name of the index that finds pods by node. */
export const NODE_INDEX = 'node';

export function nodeIndex({ spec }: DeepReadonly<Pod>): readonly string[] {
  return spec.nodeName ? [spec.nodeName] : [];
}

export interface Disruption {
  readonly reason: string;
  readonly message: string;
  /** The pod's new phase. @default unchanged */
  readonly phase?: 'Failed';
  /** 0: no kubelet is left to end it. @default the pod's own */
  readonly gracePeriodSeconds?: 0;
}

/** Records on a pod why it is deleted, and deletes it, with a precondition on its UID; no-op if it no longer exists. */
export async function deleteDisrupted(
  client: ApiClient,
  clock: Pick<Clock, 'now'>,
  pod: DeepReadonly<Pod>,
  { gracePeriodSeconds, message, phase, reason }: Disruption,
): Promise<void> {
  const { name, namespace, uid = '' } = pod.metadata;
  const ref = { namespace, name };
  const lastTransitionTime = toRfc3339(clock.now());
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime }];
  const body = { metadata: { uid }, status: { ...(phase && { phase }), conditions } };
  const marked = await unlessGone(
    client.patch(Pod, ref, { type: 'strategic', body }, { subresource: 'status' }),
  );
  if (marked) await unlessGone(client.delete(Pod, ref, { preconditions: { uid }, gracePeriodSeconds }));
}
