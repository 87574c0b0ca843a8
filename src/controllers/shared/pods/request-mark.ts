import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';

/**
 * On a ReplicaSet of a Deployment whose versions run whole beside each other: `none` while its pods get no requests. Their
 * number says nothing of the load, so an autoscaler does not count them.
 */
export const REQUESTS_OF_VERSION = 'rollkeeper.dev/requests';

/** The value of {@link REQUESTS_OF_VERSION}. */
export const NO_REQUESTS = 'none';

/** The pods that an autoscaler counts: all but those of a version that gets no requests. All of them if none would be left. */
export function servingPods(
  pods: readonly DeepReadonly<Pod>[],
  replicaSetOf: (name: string) => DeepReadonly<ReplicaSet> | undefined,
): readonly DeepReadonly<Pod>[] {
  const serving = pods.filter((pod) => {
    const owner = controllerOf(pod);
    const set = owner?.kind === 'ReplicaSet' ? replicaSetOf(owner.name) : undefined;
    const isItsOwn = set !== undefined && set.metadata.uid === owner?.uid;
    return !isItsOwn || set.metadata.annotations?.[REQUESTS_OF_VERSION] !== NO_REQUESTS;
  });
  return serving.length === 0 ? pods : serving;
}
