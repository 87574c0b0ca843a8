import type { Event } from '@rollkeeper/machinery/types/core-v1';
import type { Event as IEventView } from '@rollkeeper/machinery/types/events-v1';
import { uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { EVENT_COLUMNS, eventRow } from '../core/event/event.columns.js';
import { EVENT_KIND } from '../core/event/event.kind.js';
import { validateEventCreation, validateEventUpdate } from '../core/event/event.validation.js';
import { defineKind } from '../define-kind.js';

type EventView = DecodedObject<IEventView>;

/** Events as `events.k8s.io` knows them; stored as those of the core group. */
export const EVENT_VIEW_KIND = defineKind<EventView>({
  type: { group: 'events.k8s.io', version: 'v1', resource: 'events', kind: 'Event', namespaced: true },
  schema: 'io.k8s.api.events.v1.Event',
  garbageCollection: EVENT_KIND.garbageCollection,
  shortNames: ['ev'],
  createsOnUpdate: true,
  columns: EVENT_COLUMNS,
  toRow: (object, nowMs) => eventRow(toStored(object), nowMs),
  // As it is inside: an event of the core group.
  refusedAs: { group: '', kind: 'Event' },
  validate: (object, errors) => validateEventCreation(toEvent(object), errors),
  validateUpdate: (object, old, _subresource, errors) =>
    validateEventUpdate(toEvent(object), toEvent(old), errors),
  isListedFromStore: true,
  selectableFields: (object) => {
    const { 'involvedObject.kind': _kind, ...fields } = EVENT_KIND.selectableFields(toStored(object));
    const regarding = Object.entries(fields).map(([name, value]): [string, string] => [
      name.replace(/^involvedObject\./, 'regarding.'),
      value,
    ]);
    return {
      ...Object.fromEntries(regarding),
      'regarding.kind': object.regarding?.kind ?? '',
      reportingController: object.reportingController ?? '',
    };
  },
  view: {
    resource: 'events',
    toStored: (object) => toStored(object),
    fromStored: (object) => fromStored(object),
  },
});

function toEvent(view: Readonly<EventView>): DecodedObject<Event> {
  return toStored(view);
}

/** Source: pkg/apis/events/v1/conversion.go. */
function toStored(view: Readonly<EventView>): UnstructuredObject {
  const {
    apiVersion: _version,
    kind: _kind,
    note,
    regarding,
    reportingController,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    ...rest
  } = view;
  return withoutNothing({
    apiVersion: 'v1',
    kind: 'Event',
    ...rest,
    involvedObject: regarding ?? {},
    message: note,
    reportingComponent: reportingController,
    source: deprecatedSource,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
  });
}

function fromStored(event: Readonly<DecodedObject<Event>>): UnstructuredObject {
  const {
    apiVersion: _version,
    kind: _kind,
    message,
    involvedObject,
    reportingComponent,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    ...rest
  } = event;
  return withoutNothing({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    ...rest,
    note: message,
    regarding: involvedObject,
    reportingController: reportingComponent,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
  });
}

function withoutNothing(object: Record<string, unknown>): UnstructuredObject {
  return uncheckedObject(
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)),
  );
}
