import type { StructuralSchema } from '../../../schema/index.js';

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};
const [INT32, INT64] = [2 ** 31, 2n ** 63n];
const FLOAT32 = 3.4028234663852886e38;

/**
 * Why a number does not fit the type and the format of a schema. Source: IsValueValidAgainstRange in kube-openapi/pkg/validation.
 * @param what the number is: `Checked`, `Maximum boundary`
 */
export function rangeProblem(
  value: number | bigint,
  schema: StructuralSchema,
  what: string,
  path: string,
): string | undefined {
  const type = schema['x-kubernetes-int-or-string'] ? '' : (schema.type ?? '');
  const format = schema.format !== undefined && FORMATS[type]?.includes(schema.format) ? schema.format : '';
  if (fits(value, type, format)) return undefined;
  const shown = format === '' ? '(default format)' : `with format ${format}`;
  return `${what} value must be of type ${type} ${shown} in ${path}`;
}

function fits(value: number | bigint, type: string, format: string): boolean {
  if (type !== 'integer') return format !== 'float' || Math.abs(Number(value)) <= FLOAT32;
  if (typeof value === 'number' && !Number.isInteger(value)) return false;
  if (format === 'int32') return value >= -INT32 && value < INT32;
  return BigInt(value) >= -INT64 && BigInt(value) < INT64;
}
