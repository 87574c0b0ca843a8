import type { Decoded, ResponderStatus } from '@rollkeeper/machinery/kubernetes';
import { FIELD_IMMUTABLE, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required, tooLong } from '../validation/field-errors.js';

/** The report of a responder, as it was decoded. */
export type DecodedResponderStatus = Decoded<ResponderStatus>;

/** The largest accepted difference between two clocks, milliseconds. */
export const CLOCK_SKEW_MS = 30_000;
const LONGEST_MS = 10 * 365 * 24 * 3_600_000;
const MAX_MESSAGE = 4000;

interface Reported {
  readonly status: DecodedResponderStatus;
  readonly old: DecodedResponderStatus | undefined;
  /** Whether the responder has its turn. */
  readonly isActive: boolean;
  readonly path: string;
  readonly nowMs: number;
}

type Moment = 'startTime' | 'heartbeatTime' | 'expectedCompletionTime' | 'completionTime';

/** A responder may change its report only during its turn, and the times that it sets must be of the present. */
export function validateResponderStatus(report: Reported, errors: FieldError[]): void {
  const { isActive, old, path, status } = report;
  if (old && !isActive && !sameMeaning(status, old)) {
    errors.push(invalid(path, status, FIELD_IMMUTABLE));
    return;
  }
  validateStart(report, errors);
  validateHeartbeat(report, errors);
  validateExpectation(report, errors);
  validateCompletion(report, errors);
  if ([...(status.message ?? '')].length > MAX_MESSAGE) errors.push(tooLong(`${path}.message`, MAX_MESSAGE));
}

function validateStart(report: Reported, errors: FieldError[]): void {
  const { isActive, path, status } = report;
  if (isKeptOnceSet(report, 'startTime', errors)) return;
  if (status.startTime === undefined) {
    if (isActive) errors.push(required(`${path}.startTime`, 'is required for an active responder'));
  } else validatePresent(report, 'startTime', errors);
}

function validateHeartbeat(report: Reported, errors: FieldError[]): void {
  const { old, path, status } = report;
  const at = `${path}.heartbeatTime`;
  if (status.heartbeatTime === undefined) {
    if (old?.heartbeatTime !== undefined) errors.push(required(at, 'is required once set'));
  } else if (isChanged(report, 'heartbeatTime')) {
    if (old?.heartbeatTime !== undefined && timeOf(status.heartbeatTime) < timeOf(old.heartbeatTime))
      errors.push(invalid(at, status.heartbeatTime, 'cannot be decreased'));
    else if (isAfterStart(report, 'heartbeatTime', errors)) validatePresent(report, 'heartbeatTime', errors);
  }
}

function validateExpectation(report: Reported, errors: FieldError[]): void {
  const { nowMs, path, status } = report;
  const { expectedCompletionTime: expected } = status;
  if (expected === undefined || !isChanged(report, 'expectedCompletionTime')) return;
  if (!isAfterStart(report, 'expectedCompletionTime', errors)) return;
  const at = `${path}.expectedCompletionTime`;
  if (timeOf(expected) < nowMs - CLOCK_SKEW_MS)
    errors.push(invalid(at, expected, 'cannot be set to the past time'));
  else if (timeOf(expected) > nowMs + LONGEST_MS)
    errors.push(invalid(at, expected, 'must complete within 10 years'));
}

function validateCompletion(report: Reported, errors: FieldError[]): void {
  if (isKeptOnceSet(report, 'completionTime', errors) || report.status.completionTime === undefined) return;
  if (isAfterStart(report, 'completionTime', errors)) validatePresent(report, 'completionTime', errors);
}

/** Refuses a change of a time that is set. @returns whether it was set before */
function isKeptOnceSet(report: Reported, moment: Moment, errors: FieldError[]): boolean {
  const { old, path, status } = report;
  if (old?.[moment] === undefined) return false;
  const at = `${path}.${moment}`;
  if (status[moment] === undefined) errors.push(invalid(at, null, 'field cannot be cleared once set'));
  else if (isChanged(report, moment))
    errors.push(invalid(at, status[moment], 'field cannot be modified once set'));
  return true;
}

function isAfterStart({ path, status }: Reported, moment: Moment, errors: FieldError[]): boolean {
  const [at, value, start] = [`${path}.${moment}`, status[moment] ?? '', status.startTime];
  const problem =
    start === undefined
      ? `cannot be set before ${path}.startTime is set`
      : timeOf(value) < timeOf(start) && `must occur after ${path}.startTime`;
  if (problem) errors.push(invalid(at, value, problem));
  return !problem;
}

function validatePresent({ nowMs, path, status }: Reported, moment: Moment, errors: FieldError[]): void {
  const value = status[moment] ?? '';
  if (Math.abs(timeOf(value) - nowMs) >= CLOCK_SKEW_MS)
    errors.push(invalid(`${path}.${moment}`, value, 'must be set to the present time'));
}

function isChanged({ old, status }: Reported, moment: Moment): boolean {
  return timeOf(status[moment] ?? '') !== timeOf(old?.[moment] ?? '');
}

/** Epoch milliseconds; 0 for a text that is not a time. */
function timeOf(text: string): number {
  return Date.parse(text) || 0;
}
