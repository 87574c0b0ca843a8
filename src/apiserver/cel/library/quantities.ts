import { NANOS, parseQuantity } from '@rollkeeper/machinery/kubernetes';
import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { register } from './register.js';

const TYPE = 'kubernetes.Quantity';

export class QuantityValue {
  constructor(readonly nanos: bigint) {}

  /** @throws EvaluationError where the text is no quantity */
  static of(text: string): QuantityValue {
    const quantity = parseQuantity(text);
    if (!quantity) throw new EvaluationError('quantities must match the regular expression');
    return new QuantityValue(quantity.nanos);
  }
}

/** Source: apiserver/pkg/cel/library/quantity.go. */
export function registerQuantities(environment: Environment): void {
  environment.registerType(TYPE, QuantityValue);
  environment.registerOperator(
    `${TYPE} == ${TYPE}`,
    (a: QuantityValue, b: QuantityValue) => a.nanos === b.nanos,
  );
  register(environment, {
    [`quantity(string): ${TYPE}`]: (text: string) => QuantityValue.of(text),
    'isQuantity(string): bool': (text: string) => parseQuantity(text) !== undefined,
    [`${TYPE}.sign(): int`]: ({ nanos }: QuantityValue) => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n),
    [`${TYPE}.isInteger(): bool`]: ({ nanos }: QuantityValue) => nanos % NANOS === 0n,
    [`${TYPE}.asInteger(): int`]: ({ nanos }: QuantityValue) => {
      if (nanos % NANOS !== 0n) throw new EvaluationError('cannot convert value to integer');
      return nanos / NANOS;
    },
    [`${TYPE}.asApproximateFloat(): double`]: ({ nanos }: QuantityValue) => Number(nanos) / Number(NANOS),
    [`${TYPE}.add(${TYPE}): ${TYPE}`]: (a: QuantityValue, b: QuantityValue) =>
      new QuantityValue(a.nanos + b.nanos),
    [`${TYPE}.add(int): ${TYPE}`]: (a: QuantityValue, b: bigint) => new QuantityValue(a.nanos + b * NANOS),
    [`${TYPE}.sub(${TYPE}): ${TYPE}`]: (a: QuantityValue, b: QuantityValue) =>
      new QuantityValue(a.nanos - b.nanos),
    [`${TYPE}.sub(int): ${TYPE}`]: (a: QuantityValue, b: bigint) => new QuantityValue(a.nanos - b * NANOS),
    [`${TYPE}.isLessThan(${TYPE}): bool`]: (a: QuantityValue, b: QuantityValue) => a.nanos < b.nanos,
    [`${TYPE}.isGreaterThan(${TYPE}): bool`]: (a: QuantityValue, b: QuantityValue) => a.nanos > b.nanos,
    [`${TYPE}.compareTo(${TYPE}): int`]: (a: QuantityValue, b: QuantityValue) =>
      a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n,
  });
}
