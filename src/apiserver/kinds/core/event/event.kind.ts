import type { Event } from '@rollkeeper/machinery/types/core-v1';
import { Event as EventKind, checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { defineKind } from '../../define-kind.js';
import { EVENT_COLUMNS, eventRow } from './event.columns.js';
import { validateEvent } from './event.validation.js';

/** Source: pkg/registry/core/event/strategy.go and ValidateEventCreate (the rules of core/v1). */
export const EVENT_KIND = defineKind<DecodedObject<Event>>({
  type: EventKind,
  schema: 'io.k8s.api.core.v1.Event',
  // There are too many of them, they own nothing, and they expire.
  garbageCollection: 'unsupported',
  shortNames: ['ev'],
  columns: EVENT_COLUMNS,
  toRow: eventRow,
  createsOnUpdate: true,
  checkName: checkPathSegment,
  finalizerNames: 'any',
  validate: (object, errors) => validateEvent(object, errors),
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
