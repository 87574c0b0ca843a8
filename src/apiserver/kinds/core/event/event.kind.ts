import type { Event } from '@rollkeeper/machinery/types/core-v1';
import { EVENTS, checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { defineKind } from '../../define-kind.js';
import type { FieldError } from '../../kind-definition.js';
import { invalid } from '../../validation/field-errors.js';
import { EVENT_COLUMNS, eventRow } from './event.columns.js';

/** Source: pkg/registry/core/event/strategy.go and ValidateEventCreate (the rules of core/v1). */
export const EVENT_KIND = defineKind<DecodedObject<Event>>({
  type: EVENTS,
  schema: 'io.k8s.api.core.v1.Event',
  // There are too many of them, they own nothing, and they expire.
  garbageCollection: 'unsupported',
  shortNames: ['ev'],
  columns: EVENT_COLUMNS,
  toRow: eventRow,
  createsOnUpdate: true,
  checkName: checkPathSegment,
  finalizerNames: 'any',
  validate: validateEvent,
  isListedFromStore: true,
  selectableFields({ involvedObject: about, reason, type, source, reportingComponent }) {
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
function validateEvent(object: Readonly<DecodedObject<Event>>, errors: FieldError[]): void {
  const about = object.involvedObject?.namespace ?? '';
  const own = object.metadata.namespace ?? '';
  const isRight = about === '' ? own === '' || own === 'default' : own === about;
  if (!isRight) errors.push(invalid('involvedObject.namespace', about, 'does not match event.namespace'));
}
