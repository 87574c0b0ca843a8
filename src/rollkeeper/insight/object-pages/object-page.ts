import { stringify } from 'yaml';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, listAll } from '@rollkeeper/client/api-client';
import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Pod, apiVersionOf, Event } from '@rollkeeper/machinery/kubernetes';
import { HiddenValues, withoutMarks } from '../rollout/index.js';
import type { ObjectLink } from './related-objects.js';
import { madeBy, ownersOf } from './related-objects.js';
import { wordOf } from './object-kinds.js';
import { parseTimeMs } from '@rollkeeper/controllers/shared';
import type { ObjectEvent } from '../object-event.js';
import { eventTimes } from '../object-event.js';

/** An Event as the console shows it. */
interface ShownEvent {
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
async function eventsAbout(
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

/** The part of an object that the console shows beside its explanation. */
export interface ObjectPage extends ObjectLink {
  /** Without the managed fields. */
  readonly yaml: string;
  /** The fields that each manager owns. Absent: none does. */
  readonly managedFields?: string;
  readonly events: readonly ShownEvent[];
  readonly owners: readonly ObjectLink[];
  readonly made: readonly ObjectLink[];
  /** The containers of a pod whose logs can be asked for, in their order. */
  readonly containers?: readonly string[];
  /** The parts that are not shown, for people. */
  readonly notes: readonly string[];
}

/** The user whose rights the page has. */
interface PageReader {
  /** In a sentence about what is not allowed. @default You */
  readonly reader?: string;
  /** Whether values that may be secret are left out. */
  readonly hidesValues: boolean;
}

/** @throws ApiStatusError if the object itself cannot be read */
export async function readObjectPage(
  client: ApiClient,
  type: ResourceType,
  ref: ObjectRef,
  { hidesValues, reader = 'You' }: PageReader,
): Promise<ObjectPage> {
  const read = await client.get<KubernetesObject>(type, ref);
  const object = { ...read, apiVersion: apiVersionOf(type), kind: type.kind };
  const notes: string[] = hidesValues
    ? ['Values that may be secret are hidden from readers who have not signed in.']
    : [];
  const allowed = async <T>(what: string, list: Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await list;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      notes.push(`${reader} may not list ${what}.`);
      return [];
    }
  };
  const [events, made] = await Promise.all([
    allowed('its Events', eventsAbout(client, object)),
    allowed('what it made', madeBy(client, type, object)),
  ]);
  const { managedFields, ...metadata } = object.metadata;
  const shown = { ...object, metadata };
  const { name, namespace } = metadata;
  return {
    ...{ word: wordOf(type), kind: type.kind, name, ...(namespace !== undefined && { namespace }) },
    yaml: hidesValues ? withoutMarks(yamlOf(new HiddenValues().hide(shown))) : yamlOf(shown),
    ...(managedFields && { managedFields: yamlOf(managedFields) }),
    events,
    owners: ownersOf(object),
    made,
    ...(type === Pod && { containers: containersOf(object as Pod) }),
    notes,
  };
}

function yamlOf(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

function containersOf({ spec }: Pod): readonly string[] {
  const { containers, ephemeralContainers = [], initContainers = [] } = spec;
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name);
}
