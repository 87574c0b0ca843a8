import type { CachedKind, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ResourceQuota, nanosOf } from '@rollkeeper/machinery/kubernetes';

/**
 * Wakes what was refused for want of room as soon as a quota of its namespace has some again. The backoff of a refused key grows up to ten
 * minutes, and without this it would be slept through with room to spare.
 * @param waitsForRoom whether it may be room that the object lacks
 */
export function watchFreedRoom<T extends KubernetesObject>(
  kind: CachedKind<T>,
  waitsForRoom: (object: DeepReadonly<T>) => boolean,
): WatchedKind {
  return watch<ResourceQuota>(
    ResourceQuota,
    function* ({ metadata: { namespace = '' } }, listerOf) {
      for (const object of listerOf(kind).byIndex(NAMESPACE_INDEX, namespace))
        if (waitsForRoom(object)) yield object.metadata;
    },
    isRoomFreed,
  );
}

/** Whether more may be created after this change: less is used, more is allowed, or the limit was removed. */
export function isRoomFreed(event: ResourceEvent<ResourceQuota>): boolean {
  if (event.type === 'added') return false;
  if (event.type === 'deleted') return true;
  const [before, now] = [event.old.status ?? {}, event.object.status ?? {}];
  return Object.entries(before.hard ?? {}).some(([resource, hard]) => {
    const allowed = now.hard?.[resource];
    if (allowed === undefined) return true;
    return (
      nanosOf(allowed) > nanosOf(hard) || nanosOf(now.used?.[resource]) < nanosOf(before.used?.[resource])
    );
  });
}
