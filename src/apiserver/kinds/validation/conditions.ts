import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required, tooLong } from './field-errors.js';
import { validateSyntax } from './words.js';

/** A condition as clients write it. */
interface WrittenCondition {
  readonly type?: string;
  readonly status?: string;
  readonly observedGeneration?: number | bigint;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

const STATUSES = ['False', 'True', 'Unknown'];
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_PATTERN = new RegExp(`^${REASON}$`);
const NOT_A_REASON =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', " +
  `and must end with an alphanumeric character or '_' (e.g. 'my_name', or 'MY_NAME', or 'MyName', or 'ReasonA,ReasonB', or 'ReasonA:ReasonB', regex used for validation is '${REASON}')`;

/** Source: ValidateConditions in apimachinery/pkg/apis/meta/v1/validation. */
export function validateMetaConditions(
  conditions: readonly WrittenCondition[],
  path: string,
  errors: FieldError[],
): void {
  const types = new Set<string>();
  conditions.forEach((condition, index) => {
    const { type = '' } = condition;
    const at = `${path}[${index}]`;
    if (types.has(type)) errors.push(duplicate(`${at}.type`, type));
    types.add(type);
    validateMetaCondition(condition, at, errors);
  });
}

function validateMetaCondition(condition: WrittenCondition, at: string, errors: FieldError[]): void {
  const {
    type = '',
    status = '',
    observedGeneration = 0,
    lastTransitionTime,
    reason = '',
    message = '',
  } = condition;
  validateSyntax(type, checkQualifiedName, `${at}.type`, errors);
  if (!STATUSES.includes(status)) errors.push(notSupported(`${at}.status`, status, STATUSES));
  if (observedGeneration < 0)
    errors.push(
      invalid(`${at}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'),
    );
  if (!lastTransitionTime) errors.push(required(`${at}.lastTransitionTime`, 'must be set'));
  if (reason === '') errors.push(required(`${at}.reason`, 'must be set'));
  else {
    if (!REASON_PATTERN.test(reason)) errors.push(invalid(`${at}.reason`, reason, NOT_A_REASON));
    if (Buffer.byteLength(reason) > MAX_REASON) errors.push(tooLong(`${at}.reason`, MAX_REASON));
  }
  if (Buffer.byteLength(message) > MAX_MESSAGE) errors.push(tooLong(`${at}.message`, MAX_MESSAGE));
}
