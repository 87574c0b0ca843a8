import type { Event } from '@rollkeeper/machinery/types/core-v1';
import { EVENTS } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { defineKind } from '../../define-kind.js';
import type { FieldError } from '../../kind-definition.js';
import { invalid } from '../../validation/field-errors.js';
import { EVENT_COLUMNS, eventRow } from './event.columns.js';

/** Source: pkg/registry/core/event/strategy.go and ValidateEventCreate (the rules of core/v1). */
export const EVENT_KIND = defineKind({
  type: EVENTS,
  schema: 'io.k8s.api.core.v1.Event',
  // There are too many of them, they own nothing, and they expire.
  garbageCollection: 'unsupported',
  shortNames: ['ev'],
  columns: EVENT_COLUMNS,
  toRow: (object, nowMs) => eventRow(object as unknown as Decoded<Event>, object.metadata.name, nowMs),
  createsOnUpdate: true,
  validate: validateEvent,
  selectableFields(object) {
    const {
      involvedObject: about,
      reason,
      type,
      source,
      reportingComponent,
    } = object as unknown as Decoded<Event>;
    const component = source?.component ?? reportingComponent ?? '';
    return {
      'involvedObject.kind': about?.kind ?? '',
      'involvedObject.namespace': about?.namespace ?? '',
      'involvedObject.name': about?.name ?? '',
      'involvedObject.uid': about?.uid ?? '',
      'involvedObject.apiVersion': about?.apiVersion ?? '',
      'involvedObject.resourceVersion': about?.resourceVersion ?? '',
      'involvedObject.fieldPath': about?.fieldPath ?? '',
      reason: reason ?? '',
      reportingComponent: reportingComponent ?? '',
      source: component,
      type: type ?? '',
    };
  },
});

/** An event lies in the namespace of what it is about; of cluster-scoped things, in `default`. */
function validateEvent(object: Readonly<UnstructuredObject>, errors: FieldError[]): void {
  const about = (object as unknown as Decoded<Event>).involvedObject?.namespace ?? '';
  const own = object.metadata.namespace ?? '';
  const isRight = about === '' ? own === '' || own === 'default' : own === about;
  if (!isRight) errors.push(invalid('involvedObject.namespace', about, 'does not match event.namespace'));
}
