import type { JobSpec as IJobSpec } from '@rollkeeper/machinery/types/batch-v1';
import type { Decoded, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { defaultPodTemplate } from '@rollkeeper/machinery/defaults';
import { validatePodTemplate } from '../pod-template/validate-template.js';
import { invalid, notSupported, required, tooLong } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateNonNegative } from '../validation/numbers.js';
import { validateDomainPath } from '../validation/paths.js';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.js';

type JobSpec = Decoded<IJobSpec>;

const MAX_INT32 = 2 ** 31 - 1;

/**
 * Sets the defaults that a job and the template of one share. Source: SetDefaults_Job in pkg/apis/batch/v1/defaults.go.
 */
export function defaultJobSpec(spec: Decoded<IJobSpec>): void {
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  defaultFailurePolicy(spec);
  defaultPodTemplate(spec);
}

/** Source: SetDefaults_PodFailurePolicyOnPodConditionsPattern. */
export function defaultFailurePolicy(spec: Decoded<IJobSpec>): void {
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? [])
    for (const condition of onPodConditions ?? []) condition.status ||= 'True';
}

/** Labels by which a job finds its own pods; the older two are for clients that still use them. */
export function generatedLabels(name: string, uid: string): Record<string, string> {
  return {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
}

/** Gives a job's pods the labels by which it finds them, and selects them. */
export function generateSelector(object: KubernetesObject, spec: Decoded<IJobSpec>): void {
  const uid = object.metadata.uid ?? '';
  const metadata = ((spec.template ??= {}).metadata ??= {});
  const labels = (metadata.labels ??= {});
  const { name = '' } = object.metadata;
  Object.assign(labels, generatedLabels(name, uid));
  const selector = (spec.selector ??= {});
  (selector.matchLabels ??= {})['batch.kubernetes.io/controller-uid'] = uid;
}

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;
const MODES = ['Indexed', 'NonIndexed'];
const REPLACEMENTS = ['Failed', 'TerminatingOrFailed'];
const RESTARTS = ['OnFailure', 'Never'];

/** Source: validateJobSpec in pkg/apis/batch/validation/validation.go. */
export function validateJobSpec(spec: JobSpec, path: string, errors: FieldError[], old?: JobSpec): void {
  validateNonNegative(spec, COUNTS, path, errors);
  const { completionMode: mode = 'NonIndexed', podReplacementPolicy: replacement, managedBy } = spec;
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (managedBy !== undefined) validateManager(managedBy, `${path}.managedBy`, errors);
  if (!MODES.includes(mode)) errors.push(notSupported(`${path}.completionMode`, mode, [...MODES].reverse()));
  if (mode === 'Indexed' && spec.completions === undefined)
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (mode === 'Indexed') validateIndexed(spec, path, errors);
  if (mode === 'NonIndexed')
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
      if (spec[field] !== undefined)
        errors.push(invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
  if (spec.podFailurePolicy) validateFailurePolicy(spec, `${path}.podFailurePolicy`, errors);
  if (spec.successPolicy && mode === 'Indexed') validateSuccessPolicy(spec, `${path}.successPolicy`, errors);
  else if (spec.successPolicy)
    errors.push(
      invalid(
        `${path}.successPolicy`,
        internalForm('batch.SuccessPolicy', spec.successPolicy),
        'requires indexed completion mode',
      ),
    );
  // A policy for failed pods waits until they have failed.
  const replacements = spec.podFailurePolicy ? ['Failed'] : REPLACEMENTS;
  if (replacement !== undefined && !replacements.includes(replacement))
    errors.push(notSupported(`${path}.podReplacementPolicy`, replacement, replacements));
  const template = spec.template ?? {};
  validatePodTemplate(template, `${path}.template`, errors, old?.template);
  const restart = template.spec?.restartPolicy ?? '';
  const field = `${path}.template.spec.restartPolicy`;
  if (restart === '' || restart === 'Always')
    errors.push(required(field, 'valid values: "OnFailure", "Never"'));
  else if (!RESTARTS.includes(restart)) errors.push(notSupported(field, restart, RESTARTS));
  else if (spec.podFailurePolicy && restart !== 'Never')
    errors.push(invalid(field, restart, 'only "Never" is supported when podFailurePolicy is specified'));
}

const MAX_MANAGER_LENGTH = 63;

function validateManager(managedBy: string, path: string, errors: FieldError[]): void {
  validateDomainPath(managedBy, path, errors);
  if (Buffer.byteLength(managedBy) > MAX_MANAGER_LENGTH) errors.push(tooLong(path, MAX_MANAGER_LENGTH));
}

/** Indexes are kept as text in the status, whose length these limits bound. */
const MAX_INDEXED = 100_000;
const MANY_PARALLEL = 10_000;

function validateIndexed(
  { backoffLimitPerIndex, completions = 0, maxFailedIndexes, parallelism = 0 }: JobSpec,
  path: string,
  errors: FieldError[],
): void {
  const limit = (field: string, value: number, most: number | string, when = ''): void => {
    errors.push(invalid(`${path}.${field}`, value, `must be less than or equal to ${most}${when}`));
  };
  if (parallelism > MAX_INDEXED)
    limit('parallelism', parallelism, MAX_INDEXED, ' when completion mode is Indexed');
  if (maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    limit('maxFailedIndexes', maxFailedIndexes, 'completions');
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_INDEXED)
    limit('maxFailedIndexes', maxFailedIndexes, MAX_INDEXED);
  if (completions <= MAX_INDEXED || backoffLimitPerIndex === undefined) return;
  const when = ` when completions are above ${MAX_INDEXED} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined)
    errors.push(
      required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${MAX_INDEXED}`),
    );
  else if (maxFailedIndexes > MANY_PARALLEL) limit('maxFailedIndexes', maxFailedIndexes, MANY_PARALLEL, when);
  if (parallelism > MANY_PARALLEL) limit('parallelism', parallelism, MANY_PARALLEL, when);
}

/** A template's jobs get their selectors when they are made. Source: ValidateJobTemplateSpec. */
export function validateJobTemplateSpec(
  spec: JobSpec,
  path: string,
  errors: FieldError[],
  old?: JobSpec,
): void {
  validateJobSpec(spec, path, errors, old);
  if (spec.selector) {
    validateLabelSelector(spec.selector, `${path}.selector`, errors);
    errors.push(invalid(`${path}.selector`, spec.selector, '`selector` will be auto-generated'));
  }
  if (spec.manualSelector) errors.push(notSupported(`${path}.manualSelector`, true, ['nil', 'false']));
}
