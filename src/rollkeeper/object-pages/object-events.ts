import type { ApiClient } from '@rollkeeper/client/api-client';
import { listAll } from '@rollkeeper/client/api-client';
import { parseTimeMs } from '@rollkeeper/controllers/shared';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Event } from '@rollkeeper/machinery/kubernetes';
import type { ObjectEvent } from '../object-event.js';
import { eventTimes } from '../object-event.js';

/** An Event as the console shows it. */
export interface ShownEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly from: string;
  readonly count: number;
  /** RFC 3339; absent where the Event has no time. */
  readonly first?: string;
  readonly last?: string;
}

const MOST = 100;

/** The Events about an object, the last one first. @throws what the API answers */
export async function eventsAbout(
  client: Pick<ApiClient, 'list'>,
  { kind, metadata }: KubernetesObject,
): Promise<readonly ShownEvent[]> {
  const { name, namespace, uid } = metadata;
  const events = await listAll<ObjectEvent>(client, Event, {
    ...(namespace !== undefined && { namespace }),
    fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
  });
  return (
    events
      // A kubelet names its node where the uid should be; an earlier object of the same name had another one.
      .filter(({ involvedObject }) => [undefined, '', uid, name].includes(involvedObject?.uid))
      .map(shown)
      .toSorted((a, b) => (parseTimeMs(b.last) ?? 0) - (parseTimeMs(a.last) ?? 0))
      .slice(0, MOST)
  );
}

function shown(event: ObjectEvent): ShownEvent {
  const { count, series } = event;
  return {
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: event.message ?? '',
    from: event.reportingComponent || (event.source?.component ?? ''),
    count: series?.count ?? count ?? 1,
    ...eventTimes(event),
  };
}
