import type { Decoded, Eviction, TargetResponder } from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_FAILED,
  HEARTBEAT_DEADLINE_MS,
  RESPONDER_STATES,
  TARGET_EVICTED,
  compareResponders,
  findCondition,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, invalid, required, tooMany } from '../validation/field-errors.js';
import { repeatedPlaces } from '../validation/repeated-places.js';
import { validateWords } from '../validation/words.js';
import { validatePrefixedKey } from '../validation/domain-prefixed-key.js';
import { INTENTS, validateEvictionConditions, validateObserved } from './eviction-request.kind.js';
import type { DecodedResponderStatus } from './responder-status.validation.js';
import { CLOCK_SKEW_MS, validateResponderStatus } from './responder-status.validation.js';

type Status = NonNullable<Decoded<Eviction>['status']>;
type Responder = Decoded<TargetResponder>;

const MAX_REQUESTERS = 100;
/** Limit of the responders: ten of the pod, and the one that every pod has. */
const MAX_RESPONDERS = 11;
const MAX_PRIORITY = 100_000;
const FINAL_STATES: readonly string[] = ['Canceled', 'Completed', 'Interrupted'];

/**
 * The status of an eviction has several writers, and this validation protects them from each other. It refuses a second active
 * responder, a turn that is out of order, a report for another responder, and a change of a final result. Source:
 * ValidateEvictionStatusUpdate.
 */
export function validateEvictionStatus(
  status: Status,
  old: Status,
  errors: FieldError[],
  nowMs: number,
): void {
  validateObserved(status.observedGeneration, old.observedGeneration, errors);
  validateEvictionConditions(status.conditions, errors);
  const isFinal = validateResults(status, old, errors);
  validateRequesters(status.requesters ?? [], errors);
  validateTurns(status, old, { isFinal, nowMs }, errors);
}

/** A result that is set cannot be changed. @returns whether the eviction has a result */
function validateResults(status: Status, old: Status, errors: FieldError[]): boolean {
  let isFinal = false;
  for (const type of [TARGET_EVICTED, EVICTION_FAILED]) {
    const [before, after] = [findCondition(old.conditions, type), findCondition(status.conditions, type)];
    isFinal ||= before?.status === 'True' || after?.status === 'True';
    if (before?.status === 'True' && !sameMeaning(before, after))
      errors.push(
        invalid('status.conditions', status.conditions, `${type} condition status cannot be reverted`),
      );
  }
  return isFinal;
}

function validateRequesters(
  requesters: readonly { readonly name?: string; readonly intent?: string }[],
  errors: FieldError[],
): void {
  if (!validateNames(requesters, 'status.requesters', MAX_REQUESTERS, errors)) return;
  requesters.forEach((requester, index) => {
    const word = { field: 'intent', words: INTENTS, isRequired: true };
    validateWords({ ...requester }, [word], `status.requesters[${index}]`, errors);
  });
}

/** @returns whether all names are valid, and no two are equal */
function validateNames(
  entries: readonly { readonly name?: string }[],
  path: string,
  most: number,
  errors: FieldError[],
): boolean {
  if (entries.length > most) {
    errors.push(tooMany(path, entries.length, most));
    return false;
  }
  const repeated = repeatedPlaces(entries.map(({ name }) => name));
  const before = errors.length;
  entries.forEach(({ name = '' }, index) => {
    if (repeated.has(index)) errors.push(duplicate(`${path}[${index}]`, { name }));
    else validatePrefixedKey(name, `${path}[${index}].name`, errors);
  });
  return errors.length === before;
}

interface Situation {
  readonly isFinal: boolean;
  readonly nowMs: number;
}

function validateTurns(status: Status, old: Status, situation: Situation, errors: FieldError[]): void {
  const path = 'status.targetResponders';
  const { responders: reports = [], targetResponders: responders = [] } = status;
  const before = old.targetResponders ?? [];
  const wasSet = before.length > 0;
  if (wasSet && !sameNames(responders, before)) {
    errors.push(invalid(path, responders, 'must preserve the same length and the same keys'));
    return;
  }
  if (!validateNames(responders, path, MAX_RESPONDERS, errors)) return;
  if (!sameNames(reports, responders)) {
    const problem = 'must be the same length as status.targetResponders and contain the same keys';
    errors.push(invalid('status.responders', reports, problem));
    return;
  }
  const expected = expectedStates(responders, before, situation.isFinal);
  responders.forEach((responder, index) => {
    const at = `${path}[${index}]`;
    const name = responder.name ?? '';
    const was = before.find((each) => each.name === name);
    validatePriority(responder, was, `${at}.priority`, errors);
    validateWords(
      { ...responder },
      [{ field: 'state', words: RESPONDER_STATES, isRequired: true }],
      at,
      errors,
    );
    const states = expected.get(name) ?? [];
    if (!states.includes(responder.state ?? ''))
      errors.push(invalid(`${at}.state`, responder.state, `must be one of: ${states.join(', ')}`));
    const report = reports.find((each) => each.name === name) ?? {};
    if (was?.state === 'Active' && responder.state !== 'Active')
      validateEndOfTurn(report, situation, `${at}.state`, errors);
  });
  validateReports(status, old, situation.nowMs, errors);
}

function validateReports(status: Status, old: Status, nowMs: number, errors: FieldError[]): void {
  const active = status.targetResponders?.find(({ state }) => state === 'Active')?.name;
  status.responders?.forEach((report, index) => {
    const was = old.responders?.find(({ name }) => name === report.name);
    const isActive = active !== undefined && report.name === active;
    const path = `status.responders[${index}]`;
    validateResponderStatus({ status: report, old: was, isActive, path, nowMs }, errors);
  });
}

function sameNames(
  some: readonly { readonly name?: string }[],
  others: readonly { readonly name?: string }[],
): boolean {
  const names = new Set(others.map(({ name }) => name));
  return some.length === others.length && some.every(({ name }) => names.has(name));
}

function validatePriority(
  { priority }: Responder,
  was: Responder | undefined,
  at: string,
  errors: FieldError[],
): void {
  if (priority === undefined) errors.push(required(at));
  else if (priority < 0) errors.push(invalid(at, priority, 'must be greater than or equal to 0'));
  else if (priority > MAX_PRIORITY)
    errors.push(invalid(at, priority, `must be less than or equal to ${MAX_PRIORITY}`));
  else if (was && was.priority !== priority)
    errors.push(invalid(at, priority, 'field cannot be modified once set'));
}

/** A responder that has not reported its completion keeps its turn until its heartbeat is overdue. */
function validateEndOfTurn(
  { completionTime, heartbeatTime, startTime }: DecodedResponderStatus,
  { isFinal, nowMs }: Situation,
  at: string,
  errors: FieldError[],
): void {
  if (isFinal || completionTime !== undefined) return;
  const aliveMs = Date.parse(heartbeatTime ?? startTime ?? '');
  if (nowMs < aliveMs + HEARTBEAT_DEADLINE_MS - CLOCK_SKEW_MS)
    errors.push(
      forbidden(
        at,
        'must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime',
      ),
    );
}

/** The states that each responder may have now, by its name. Turns go from the highest priority to the lowest, and never back. */
function expectedStates(
  responders: readonly Responder[],
  before: readonly Responder[],
  isFinal: boolean,
): ReadonlyMap<string, readonly string[]> {
  const ordered = responders.map(completed).toSorted(compareResponders);
  const old = new Map(before.map(({ name = '', state = '' }) => [name, state]));
  const lastActive = ordered.findIndex(({ name }) => old.get(name) === 'Active');
  const isUntouched = [...old.values()].every((state) => state === 'Inactive');
  const hasChanged = lastActive >= 0 && ordered[lastActive]?.state !== 'Active';
  const expectedAt = (name: string, at: number): readonly string[] => {
    if (lastActive < 0 && !isUntouched) return [old.get(name) ?? ''];
    if (at < lastActive) return [old.get(name) ?? ''];
    if (at === lastActive) return hasChanged || isFinal ? FINAL_STATES : ['Active'];
    const isNext = (at === 0 && isUntouched) || (hasChanged && at === lastActive + 1);
    return [isNext && !isFinal ? 'Active' : 'Inactive'];
  };
  return new Map(ordered.map(({ name }, at) => [name, expectedAt(name, at)]));
}

function completed({ name = '', priority = 0, state = '' }: Responder) {
  return { name, priority, state };
}
