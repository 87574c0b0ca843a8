import type { Event as IEvent } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import {
  FIELD_IMMUTABLE,
  checkDns1123Subdomain,
  checkQualifiedName,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../kind-definition.js';
import { invalid, required } from '../../validation/field-errors.js';
import { internalForm } from '../../validation/internal-form.js';
import { validateSyntax } from '../../validation/words.js';

type Event = DecodedObject<IEvent>;

const LIMITS = [
  ['reportingInstance', 128],
  ['action', 128],
  ['reason', 128],
  ['message', 1024],
] as const;

/** How an API names the field of the reporter. */
type ReporterField = 'reportingComponent' | 'reportingController';

/**
 * The rules of both APIs. An event without `eventTime` is one of the old kind, of which less is asked. Source: legacyValidateEvent in
 * pkg/apis/core/validation/events.go.
 */
export function validateEvent(
  event: Readonly<Event>,
  errors: FieldError[],
  reporterField: ReporterField = 'reportingComponent',
): void {
  const { eventTime, involvedObject, metadata } = event;
  const own = metadata.namespace ?? '';
  const about = involvedObject?.namespace ?? '';
  const isNew = Boolean(eventTime);
  const fits = isNew
    ? about !== '' || isClusterWide(own, 'kube-system')
    : about === own || isOldDefault(about, own);
  if (!fits) errors.push(invalid('involvedObject.namespace', about, 'does not match event.namespace'));
  if (isNew) validateNewEvent(event, reporterField, errors);
  validateSyntax(own, checkDns1123Subdomain, 'namespace', errors);
}

/** Events about cluster-scoped objects are in `default`. */
function isClusterWide(own: string, other: string): boolean {
  return own === 'default' || own === other;
}

function isOldDefault(about: string, own: string): boolean {
  return about === '' && isClusterWide(own, '');
}

function validateNewEvent(event: Readonly<Event>, reporterField: ReporterField, errors: FieldError[]): void {
  const reporter = event.reportingComponent ?? '';
  if (reporter === '') errors.push(required(reporterField));
  validateSyntax(reporter, checkQualifiedName, reporterField, errors);
  for (const [field, most] of LIMITS) {
    const text = event[field] ?? '';
    if (text === '' && field !== 'message') errors.push(required(field));
    if (Buffer.byteLength(text) > most)
      errors.push(invalid(field, '', `can have at most ${most} characters`));
  }
}

/** Validates what `events.k8s.io/v1` requires of new events in addition. Source: ValidateEventCreate. */
export function validateEventCreation(event: Readonly<Event>, errors: FieldError[]): void {
  validateEvent(event, errors, 'reportingController');
  validateSeries(event.series, errors);
  const { count = 0, eventTime, firstTimestamp, lastTimestamp, source, type } = event;
  if (!eventTime) errors.push(required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning')
    errors.push(invalid('type', '', `has invalid value: ${type ?? ''}`));
  const given = {
    firstTimestamp: Boolean(firstTimestamp),
    lastTimestamp: Boolean(lastTimestamp),
    count: count !== 0,
    source: Boolean(source?.component) || Boolean(source?.host),
  };
  for (const [field, isGiven] of Object.entries(given))
    if (isGiven) errors.push(invalid(field, '', 'needs to be unset'));
}

function validateSeries(series: Decoded<IEvent>['series'], errors: FieldError[]): void {
  if (!series) return;
  if ((series.count ?? 0) < 2) errors.push(invalid('series.count', '', 'should be at least 2'));
  if (!series.lastObservedTime) errors.push(required('series.lastObservedTime'));
}

const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  // Once more, as in a genuine server.
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

/** Only the series grows. Source: ValidateEventUpdate. */
export function validateEventUpdate(
  event: Readonly<Event>,
  old: Readonly<Event>,
  errors: FieldError[],
): void {
  validateEvent(event, errors, 'reportingController');
  if (!sameMeaning(event.series, old.series)) validateSeries(event.series, errors);
  for (const field of FIXED)
    if (!sameMeaning(event[field], old[field]))
      errors.push(
        invalid(
          field === 'reportingComponent' ? 'reportingController' : field,
          shownField(field, event[field]),
          FIELD_IMMUTABLE,
        ),
      );
}

function shownField(field: (typeof FIXED)[number], value: unknown): unknown {
  switch (field) {
    case 'involvedObject':
      return internalForm('core.ObjectReference', value);
    case 'related':
      return value === undefined ? null : internalForm('core.ObjectReference', value);
    case 'source':
      return internalForm('core.EventSource', value);
    case 'count':
      return value ?? 0;
    case 'firstTimestamp':
    case 'lastTimestamp':
    case 'eventTime':
      return value ?? null;
    default:
      return value ?? '';
  }
}
