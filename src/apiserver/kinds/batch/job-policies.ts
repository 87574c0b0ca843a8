import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { JobSpec, PodFailurePolicyRule } from '@rollkeeper/machinery/types/batch-v1';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required, tooMany } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

type Spec = Decoded<JobSpec>;

const MAX_RULES = 20;
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
  if (!action)
    errors.push(required(`${path}.action`, `valid values: ${ACTIONS.map((word) => `"${word}"`).join(', ')}`));
  else if (!ACTIONS.includes(action)) errors.push(notSupported(`${path}.action`, action, ACTIONS));
  else if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    errors.push(invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  if (onExitCodes && onPodConditions?.length)
    errors.push(invalid(path, null, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!onExitCodes && !onPodConditions?.length)
    errors.push(invalid(path, null, 'specifying one of OnExitCodes and OnPodConditions is required'));
  if (onExitCodes) validateExitCodes(onExitCodes, containers, `${path}.onExitCodes`, errors);
  onPodConditions?.forEach(({ type, status }, index) => {
    const at = `${path}.onPodConditions[${index}]`;
    validateSyntax(type ?? '', checkQualifiedName, `${at}.type`, errors);
    if (!status) errors.push(required(`${at}.status`));
    else if (!STATUSES.includes(status)) errors.push(notSupported(`${at}.status`, status, STATUSES));
  });
}

function validateExitCodes(
  { operator, values = [], containerName }: NonNullable<Decoded<PodFailurePolicyRule>['onExitCodes']>,
  containers: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  if (!operator) errors.push(required(`${path}.operator`, 'valid values: "In", "NotIn"'));
  else if (!OPERATORS.includes(operator)) errors.push(notSupported(`${path}.operator`, operator, OPERATORS));
  if (containerName !== undefined && !containers.has(containerName))
    errors.push(
      invalid(
        `${path}.containerName`,
        containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    );
  if (values.length === 0) errors.push(invalid(`${path}.values`, values, 'at least one value is required'));
  if (values.length > MAX_CODES) errors.push(tooMany(`${path}.values`, values.length, MAX_CODES));
  values.forEach((value, index) => {
    const field = `${path}.values[${index}]`;
    if (operator === 'In' && value === 0)
      errors.push(invalid(field, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < index) errors.push(duplicate(field, value));
    else if (index > 0 && value < (values[index - 1] ?? value))
      errors.push(invalid(`${path}.values`, values, 'must be ordered'));
  });
}

const INDEXES = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;

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
  rules.forEach(({ succeededIndexes, succeededCount }, index) => {
    const at = `${path}.rules[${index}]`;
    if (succeededIndexes === undefined && succeededCount === undefined)
      errors.push(required(at, 'at least one of succeededCount or succeededIndexes must be specified'));
    if (succeededIndexes !== undefined && !INDEXES.test(succeededIndexes))
      errors.push(invalid(`${at}.succeededIndexes`, succeededIndexes, 'error parsing succeededIndexes'));
    if (succeededCount === undefined) return;
    if (succeededCount < 1)
      errors.push(invalid(`${at}.succeededCount`, succeededCount, 'must be greater than or equal to 1'));
    else if (completions !== undefined && succeededCount > completions)
      errors.push(
        invalid(
          `${at}.succeededCount`,
          succeededCount,
          `must be less than or equal to ${completions} (the number of specified completions)`,
        ),
      );
  });
}
