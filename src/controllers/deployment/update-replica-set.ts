import type { ApiClient } from '@rollkeeper/runtime';
import { isConflict } from '@rollkeeper/runtime';
import { ReplicaSet, semanticEqual } from '@rollkeeper/machinery/kubernetes';

/**
 * Writes a ReplicaSet as decided. Its own controller writes its status all the time, which would make every other write
 * conflict; if only the status has changed, and not for the worse, the decision is still valid and is written on top.
 * Any other change is a conflict as usual.
 */
export async function updateReplicaSet(
  client: ApiClient,
  wanted: ReplicaSet,
  signal: AbortSignal,
): Promise<ReplicaSet> {
  try {
    return await client.update(ReplicaSet, wanted, { signal });
  } catch (error) {
    if (!isConflict(error)) throw error;
    const live = await client.get<ReplicaSet>(ReplicaSet, wanted.metadata, { signal });
    if (!stillStands(wanted, live)) throw error;
    return client.update(ReplicaSet, onTopOf(wanted, live), { signal });
  }
}

/** @param wanted carries the status that the decision was based on, and the generation that it replaces */
function stillStands(wanted: ReplicaSet, live: ReplicaSet): boolean {
  const { generation, labels, ownerReferences, uid } = wanted.metadata;
  return (
    live.metadata.uid === uid &&
    live.metadata.generation === generation &&
    live.metadata.deletionTimestamp === undefined &&
    semanticEqual(live.metadata.labels, labels) &&
    semanticEqual(live.metadata.ownerReferences, ownerReferences) &&
    (live.status?.availableReplicas ?? 0) >= (wanted.status?.availableReplicas ?? 0)
  );
}

function onTopOf(wanted: ReplicaSet, live: ReplicaSet): ReplicaSet {
  const annotations = { ...live.metadata.annotations, ...wanted.metadata.annotations };
  const { resourceVersion } = live.metadata;
  return { ...wanted, status: live.status, metadata: { ...wanted.metadata, annotations, resourceVersion } };
}
