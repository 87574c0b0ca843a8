import type { Event as IEventView } from '@rollkeeper/machinery/types/events-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { checkQualifiedName, FIELD_IMMUTABLE, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

type EventView = DecodedObject<IEventView>;

const MAX_INSTANCE = 128;
const MAX_ACTION = 128;
const MAX_REASON = 128;
const MAX_NOTE = 1024;

/** Stricter than core events are judged. Source: ValidateEventCreate in pkg/apis/core/validation/events.go. */
export function validateEventView(event: Readonly<EventView>, errors: FieldError[]): void {
  const {
    eventTime,
    type,
    reportingController,
    reportingInstance = '',
    action = '',
    reason = '',
    note = '',
  } = event;
  if (!eventTime) errors.push(required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning')
    errors.push(invalid('type', '', `has invalid value: ${type ?? ''}`));
  if (!reportingController) errors.push(required('reportingController'));
  else validateSyntax(reportingController, checkQualifiedName, 'reportingController', errors);
  if (!reportingInstance) errors.push(required('reportingInstance'));
  if (!action) errors.push(required('action'));
  if (!reason) errors.push(required('reason'));
  for (const [field, text, most] of [
    ['reportingInstance', reportingInstance, MAX_INSTANCE],
    ['action', action, MAX_ACTION],
    ['reason', reason, MAX_REASON],
    ['note', note, MAX_NOTE],
  ] as const)
    if (text.length > most) errors.push(invalid(field, '', `can have at most ${most} characters`));
  validateNamespace(event, errors);
}

function validateNamespace({ metadata, regarding }: Readonly<EventView>, errors: FieldError[]): void {
  const about = regarding?.namespace ?? '';
  const own = metadata.namespace ?? '';
  const isRight = about === '' ? own === '' || own === 'default' : own === about;
  if (!isRight) errors.push(invalid('regarding.namespace', about, 'does not match event.namespace'));
}

const FIXED = [
  'regarding',
  'reason',
  'note',
  'deprecatedSource',
  'deprecatedFirstTimestamp',
  'deprecatedLastTimestamp',
  'deprecatedCount',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
] as const;

/** Only the series grows. Source: ValidateEventUpdate. */
export function validateEventViewUpdate(
  event: Readonly<EventView>,
  old: Readonly<EventView>,
  errors: FieldError[],
): void {
  for (const field of FIXED)
    if (!semanticEqual(event[field], old[field]))
      errors.push(invalid(field, event[field] ?? null, FIELD_IMMUTABLE));
}
