import { checkLabelValue, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { Toleration } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Source: ValidateTolerations in pkg/apis/core/validation/validation.go. */
export function validateTolerations(
  tolerations: readonly Decoded<Toleration>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  tolerations?.forEach((toleration, index) => validateToleration(toleration, `${path}[${index}]`, errors));
}

function validateToleration(toleration: Decoded<Toleration>, path: string, errors: FieldError[]): void {
  const { key, operator, value = '', effect, tolerationSeconds } = toleration;
  if (key) validateSyntax(key, checkQualifiedName, `${path}.key`, errors);
  else if (operator !== 'Exists') {
    errors.push(
      invalid(
        `${path}.operator`,
        operator ?? '',
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(
      invalid(`${path}.effect`, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    );
  }
  if (operator === undefined || operator === 'Equal') {
    validateSyntax(value, checkLabelValue, `${path}.operator`, errors);
  } else if (operator === 'Exists') {
    if (value !== '') {
      errors.push(invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    }
  } else errors.push(notSupported(`${path}.operator`, operator, operatorsFor(operator)));
  if (effect && !EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS));
}

const OPERATORS = ['Equal', 'Exists'];
/** Their feature is off by default in 1.36, and a genuine server names them in the refusal of themselves alone. */
const COMPARISONS = ['Lt', 'Gt'];

function operatorsFor(refused: string): readonly string[] {
  return COMPARISONS.includes(refused) ? [...OPERATORS, ...COMPARISONS] : OPERATORS;
}
