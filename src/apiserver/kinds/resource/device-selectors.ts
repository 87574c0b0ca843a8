import type { DeviceSelector } from '@rollkeeper/machinery/types/resource-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { compileExpression, mapOf, objectOf } from '../../cel/index.js';
import type { DeclaredSizes } from '../../cel/index.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required, tooLong } from '../validation/field-errors.js';
import { validateItems } from './lists.js';

const MAX_SELECTORS = 32;
const MAX_EXPRESSION_LENGTH = 10 * 1024;
/** Units that the evaluation of one selector may cost. */
const MAX_COST = 1_000_000;

/** The type of a device in expressions. Attributes are grouped by their domain, and so are capacities. */
const DEVICE = objectOf('DRADevice', {
  driver: 'string',
  attributes: mapOf(mapOf('dyn')),
  capacity: mapOf(mapOf('dyn')),
  allowMultipleAllocations: 'bool',
});

/** No text of a device is longer, and no map has more entries. */
const SIZES: DeclaredSizes = {
  max: 64,
  minJson: 2,
  items: () => SIZES,
  keys: () => SIZES,
  field: () => SIZES,
};

/** Source: validateSelectorSlice in pkg/apis/resource/validation/validation.go. */
export function validateSelectors(
  selectors: Decoded<DeviceSelector>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  validateItems(selectors, MAX_SELECTORS, path, errors, ({ cel }, at) => {
    if (!cel) errors.push(required(`${at}.cel`));
    else validateSelectorExpression(cel.expression ?? '', `${at}.cel.expression`, errors);
  });
}

function validateSelectorExpression(expression: string, path: string, errors: FieldError[]): void {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    errors.push(tooLong(path, MAX_EXPRESSION_LENGTH));
    return;
  }
  const { problem, program } = compileExpression(expression, { variables: { device: DEVICE } });
  if (!program) {
    errors.push(invalid(path, expression, `compilation failed: ${problem}`));
    return;
  }
  const { resultType } = program;
  if (resultType !== 'bool' && resultType !== 'dyn')
    errors.push(invalid(path, expression, `must evaluate to bool or the unknown type, not ${resultType}`));
  else if (program.estimateCost(SIZES) > MAX_COST)
    errors.push(forbidden(path, 'too complex, exceeds cost limit'));
}
