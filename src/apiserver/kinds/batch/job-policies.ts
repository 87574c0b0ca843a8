import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { JobSpec, PodFailurePolicyRule, SuccessPolicyRule } from '@rollkeeper/machinery/types/batch-v1';
import type { FieldError } from '../kind-definition.js';
import {
  duplicate,
  invalid,
  invalidFor,
  notSupported,
  quotedList,
  required,
  tooLong,
  tooMany,
} from '../validation/field-errors.js';
import { validateNonNegative } from '../validation/numbers.js';
import { validateSyntax } from '../validation/words.js';
import { countIndexes } from './index-intervals.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type Spec = Decoded<JobSpec>;

const MAX_RULES = 20;
const MAX_CONDITIONS = 20;
const MAX_CODES = 255;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

/** Source: validatePodFailurePolicy in pkg/apis/batch/validation/validation.go. */
export function validateFailurePolicy(spec: Spec, path: string, errors: FieldError[]): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES));
  const containers = new Set(
    [...(spec.template?.spec?.containers ?? []), ...(spec.template?.spec?.initContainers ?? [])].map(
      ({ name = '' }) => name,
    ),
  );
  rules.forEach((rule, index) => validateRule(rule, { spec, containers }, `${path}.rules[${index}]`, errors));
}

function validateRule(
  { action, onExitCodes, onPodConditions }: Decoded<PodFailurePolicyRule>,
  { spec, containers }: { spec: Spec; containers: ReadonlySet<string> },
  path: string,
  errors: FieldError[],
): void {
  if (!action) errors.push(required(`${path}.action`, `valid values: ${quotedList(ACTIONS)}`));
  else if (!ACTIONS.includes(action)) errors.push(notSupported(`${path}.action`, action, ACTIONS));
  else if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    errors.push(invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  if (onExitCodes) validateExitCodes(onExitCodes, containers, `${path}.onExitCodes`, errors);
  validatePodConditions(onPodConditions ?? [], `${path}.onPodConditions`, errors);
  if (onExitCodes && onPodConditions?.length)
    errors.push(invalidFor(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!onExitCodes && !onPodConditions?.length)
    errors.push(invalidFor(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
}

function validatePodConditions(
  conditions: NonNullable<Decoded<PodFailurePolicyRule>['onPodConditions']>,
  path: string,
  errors: FieldError[],
): void {
  if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(path, conditions.length, MAX_CONDITIONS));
  conditions.forEach(({ type, status }, index) => {
    const at = `${path}[${index}]`;
    validateSyntax(type ?? '', checkQualifiedName, `${at}.type`, errors);
    if (!status) errors.push(required(`${at}.status`, `valid values: ${quotedList(STATUSES)}`));
    else if (!STATUSES.includes(status)) errors.push(notSupported(`${at}.status`, status, STATUSES));
  });
}

function validateExitCodes(
  { operator, values: given, containerName }: NonNullable<Decoded<PodFailurePolicyRule>['onExitCodes']>,
  containers: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  const values = given ?? [];
  if (!operator) errors.push(required(`${path}.operator`, `valid values: ${quotedList(OPERATORS)}`));
  else if (!OPERATORS.includes(operator)) errors.push(notSupported(`${path}.operator`, operator, OPERATORS));
  if (containerName !== undefined && !containers.has(containerName))
    errors.push(
      invalid(
        `${path}.containerName`,
        containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    );
  if (values.length === 0)
    errors.push(invalid(`${path}.values`, given ?? null, 'at least one value is required'));
  if (values.length > MAX_CODES) errors.push(tooMany(`${path}.values`, values.length, MAX_CODES));
  const repeated = repeatedPlaces(values);
  values.forEach((value, index) => {
    const field = `${path}.values[${index}]`;
    if (operator === 'In' && value === 0)
      errors.push(invalid(field, value, 'must not be 0 for the In operator'));
    if (repeated.has(index)) errors.push(duplicate(field, value));
  });
  if (values.some((value, index) => index > 0 && value < (values[index - 1] ?? value)))
    errors.push(invalid(`${path}.values`, values, 'must be ordered'));
}

/** The longest list of indexes, bytes. */
const MAX_INDEXES_LENGTH = 64 * 1024;

/** Source: validateSuccessPolicy. */
export function validateSuccessPolicy(
  { successPolicy, completions }: Spec,
  path: string,
  errors: FieldError[],
): void {
  const rules = successPolicy?.rules ?? [];
  if (rules.length === 0)
    errors.push(
      required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified'),
    );
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES));
  rules.forEach((rule, index) =>
    validateSuccessRule(rule, completions ?? 0, `${path}.rules[${index}]`, errors),
  );
}

function validateSuccessRule(
  { succeededCount, succeededIndexes }: Decoded<SuccessPolicyRule>,
  completions: number,
  path: string,
  errors: FieldError[],
): void {
  if (succeededIndexes === undefined && succeededCount === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  const indexes = countIndexes(succeededIndexes ?? '', completions);
  if (succeededIndexes !== undefined) {
    const field = `${path}.succeededIndexes`;
    if (succeededIndexes.length > MAX_INDEXES_LENGTH) errors.push(tooLong(field, MAX_INDEXES_LENGTH));
    if ('problem' in indexes)
      errors.push(invalid(field, succeededIndexes, `error parsing succeededIndexes: ${indexes.problem}`));
  }
  if (succeededCount === undefined) return;
  const field = `${path}.succeededCount`;
  const atMost = (most: number, what: string): void => {
    if (succeededCount > most)
      errors.push(
        invalid(field, succeededCount, `must be less than or equal to ${most} (the number of ${what})`),
      );
  };
  validateNonNegative({ succeededCount }, ['succeededCount'], path, errors);
  atMost(completions, 'specified completions');
  if (succeededIndexes !== undefined)
    atMost('total' in indexes ? indexes.total : 0, 'indexes in the specified succeededIndexes field');
}
