import type { Job as IJob, JobSpec, JobStatus } from '@rollkeeper/machinery/types/batch-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { FIELD_IMMUTABLE, ownField, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, invalidFor, required } from '../validation/field-errors.js';
import { validateNonNegative } from '../validation/numbers.js';
import { countIndexes, sharedIndex } from './index-intervals.js';

type Job = DecodedObject<IJob>;
type Status = Decoded<JobStatus>;
type Spec = Decoded<JobSpec>;

const COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;
const TERMINAL = ['Failed', 'Complete', 'FailureTarget'];

/** One change of a status. Most rules apply to what changes alone: what was wrong before does not block other changes. */
interface Change {
  readonly status: Status;
  readonly old: Status;
  readonly spec: Spec;
  /** Whether a condition is true now. */
  readonly is: (type: string) => boolean;
  readonly was: (type: string) => boolean;
  /** Whether one of these fields or conditions differs. */
  readonly changed: (...names: readonly string[]) => boolean;
  readonly errors: FieldError[];
}

/**
 * A job may be managed by another controller than ours (`spec.managedBy`), so its status is checked as strictly as a specification.
 * Source: validateJobStatus and ValidateJobStatusUpdate in pkg/apis/batch/validation, and getStatusValidationOptions in
 * pkg/registry/batch/job, which says when each rule applies.
 */
export function validateJobStatus(job: Readonly<Job>, oldJob: Readonly<Job>, errors: FieldError[]): void {
  const { spec = {}, status = {} } = job;
  const old = oldJob.status ?? {};
  const is = (type: string): boolean => isTrue(status, type);
  const was = (type: string): boolean => isTrue(old, type);
  const changed = (...names: readonly string[]): boolean =>
    names.some((name) =>
      name === 'Finished'
        ? isFinished(is) !== isFinished(was)
        : /^[A-Z]/.test(name)
          ? is(name) !== was(name)
          : !sameMeaning(ownField(status, name), ownField(old, name)),
    );
  const change: Change = { status, old, spec, is, was, changed, errors };
  validateNonNegative(status, COUNTS, 'status', errors);
  validateUncounted(status, errors);
  validateEnds(change);
  validateFinished(change);
  validateIndexes(change);
  validateSuccess(change);
  validateHistory(change);
}

function isTrue({ conditions }: Status, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

function isFinished(is: (type: string) => boolean): boolean {
  return is('Complete') || is('Failed');
}

function validateUncounted({ uncountedTerminatedPods: pods }: Status, errors: FieldError[]): void {
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'] as const)
    (pods?.[list] ?? []).forEach((uid, index) => {
      const field = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === '') errors.push(invalid(field, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(field, uid));
      seen.add(uid);
    });
}

/** How a job ended: in one way, with a time that fits. */
function validateEnds({ changed, errors, is, status }: Change): void {
  const contradicts = (one: string, other: string): void => {
    errors.push(invalidFor('status.conditions', `cannot set ${one}=True and ${other}=true conditions`));
  };
  const { completionTime, startTime } = status;
  const field = 'status.completionTime';
  if (changed('Complete', 'Failed') && is('Complete') && is('Failed')) contradicts('Complete', 'Failed');
  if (changed('Complete', 'FailureTarget') && is('Complete') && is('FailureTarget'))
    contradicts('Complete', 'FailureTarget');
  if (changed('Complete', 'completionTime')) {
    if (completionTime !== undefined && !is('Complete'))
      errors.push(
        invalid(field, completionTime, 'cannot set completionTime when there is no Complete=True condition'),
      );
    if (completionTime === undefined && is('Complete'))
      errors.push(required(field, 'completionTime is required for Complete jobs'));
  }
  if (changed('startTime', 'completionTime') && startTime !== undefined && completionTime !== undefined)
    if (Date.parse(completionTime) < Date.parse(startTime))
      errors.push(invalid(field, completionTime, 'must be equal to or after `startTime`'));
  if (changed('Failed', 'failedIndexes') && is('Failed') && !is('FailureTarget'))
    errors.push(
      invalidFor(
        'status.conditions',
        'cannot set Failed=True condition without the FailureTarget=true condition',
      ),
    );
  if (changed('Complete', 'SuccessCriteriaMet') && is('Complete') && !is('SuccessCriteriaMet'))
    errors.push(
      invalidFor(
        'status.conditions',
        'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      ),
    );
}

/** Validates that a job that has ended has no running pods. */
function validateFinished({ changed, errors, is, spec, status }: Change): void {
  if (!isFinished(is)) return;
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  if (changed('Finished', 'active') && active > 0)
    errors.push(invalid('status.active', active, 'active>0 is invalid for finished job'));
  const neverBegan = spec.suspend === true && spec.completions === 0;
  if (changed('Finished', 'startTime') && startTime === undefined && !neverBegan)
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  const count = (uncounted?.failed?.length ?? 0) + (uncounted?.succeeded?.length ?? 0);
  if (changed('Finished', 'uncountedTerminatedPods') && count > 0)
    errors.push(
      invalid('status.uncountedTerminatedPods', uncountedForm(uncounted), 'must be empty for finished job'),
    );
}

/** As Kubernetes has it inside. */
function uncountedForm(uncounted: Status['uncountedTerminatedPods']): object {
  return { Succeeded: uncounted?.succeeded ?? null, Failed: uncounted?.failed ?? null };
}

function validateIndexes({ changed, errors, spec, status }: Change): void {
  const { completionMode, completions, backoffLimitPerIndex } = spec;
  const { completedIndexes = '', failedIndexes } = status;
  const parse = (name: 'completedIndexes' | 'failedIndexes', text: string): void => {
    const counted = countIndexes(text, completions ?? 0);
    if ('problem' in counted)
      errors.push(invalid(`status.${name}`, text, `error parsing ${name}: ${counted.problem}`));
  };
  const isKnown = completions !== undefined;
  if (changed('completedIndexes') && isKnown) parse('completedIndexes', completedIndexes);
  if (
    changed('failedIndexes') &&
    isKnown &&
    backoffLimitPerIndex !== undefined &&
    failedIndexes !== undefined
  )
    parse('failedIndexes', failedIndexes);
  if (changed('completedIndexes') && completedIndexes !== '' && completionMode !== 'Indexed')
    errors.push(
      invalid(
        'status.completedIndexes',
        completedIndexes,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    );
  if (changed('failedIndexes') && backoffLimitPerIndex === undefined && failedIndexes !== undefined)
    errors.push(
      invalid(
        'status.failedIndexes',
        failedIndexes,
        'cannot set non-null failedIndexes when backoffLimitPerIndex is null',
      ),
    );
  if (!changed('failedIndexes', 'completedIndexes') || !isKnown || failedIndexes === undefined) return;
  const shared = sharedIndex(completedIndexes, failedIndexes, completions);
  if (shared !== undefined)
    errors.push(
      invalid(
        'status.failedIndexes',
        failedIndexes,
        `failedIndexes and completedIndexes overlap at index: ${shared}`,
      ),
    );
}

function validateSuccess({ changed, errors, is, status }: Change): void {
  const { active = 0, ready, terminating = 0 } = status;
  if (changed('Finished', 'terminating') && terminating > 0 && isFinished(is))
    errors.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  if (changed('ready', 'active') && ready !== undefined && ready > active)
    errors.push(invalid('status.ready', ready, 'cannot set more ready pods than active'));
  for (const type of ['Failed', 'FailureTarget'])
    if (is('SuccessCriteriaMet') && is(type))
      errors.push(
        invalidFor('status.conditions', `cannot set SuccessCriteriaMet=True and ${type}=true conditions`),
      );
}

/** Validates that nothing is taken back that has happened. Source: ValidateJobStatusUpdate. */
function validateHistory({ errors, is, old, spec, status, was, changed }: Change): void {
  for (const type of TERMINAL)
    if (was(type) && !is(type))
      errors.push(invalidFor('status.conditions', `cannot disable the terminal ${type}=True condition`));
  const { completionTime, failed = 0, startTime, succeeded = 0 } = status;
  if (failed < (old.failed ?? 0))
    errors.push(invalid('status.failed', failed, 'cannot decrease the failed counter'));
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!mayShrink && succeeded < (old.succeeded ?? 0))
    errors.push(invalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter'));
  if (completionTime !== undefined && old.completionTime !== undefined && changed('completionTime'))
    errors.push(invalid('status.completionTime', completionTime, FIELD_IMMUTABLE));
  const resumes = was('Suspended') && isFalse(status, 'Suspended');
  if (changed('startTime') && !resumes && old.startTime !== undefined && spec.suspend !== true)
    errors.push(
      invalid('status.startTime', startTime ?? null, 'field is immutable for unsuspended job once set'),
    );
  const met = 'SuccessCriteriaMet';
  if (was(met) && !is(met))
    errors.push(invalidFor('status.conditions', 'cannot disable the SuccessCriteriaMet=True condition'));
  if (was('Complete') && !was(met) && is(met))
    errors.push(
      invalidFor(
        'status.conditions',
        'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
      ),
    );
}

function isFalse({ conditions }: Status, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'False') ?? false;
}
