import type { CustomResourceSubresourceScale } from '@rollkeeper/machinery/types/apiextensions-v1';
import { goTypeOf, goValue, isJsonObject, ownField } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';

const MAX_INT32 = 2_147_483_647;

/**
 * Validates the fields that a Scale reads of an object. Source: ValidateScaleSpec in
 * apiextensions-apiserver/pkg/registry/customresource.
 */
export function validateScaleSpec(
  object: object,
  { specReplicasPath }: CustomResourceSubresourceScale,
  errors: FieldError[],
): void {
  validateCount(object, specReplicasPath, errors);
}

/** Source: ValidateScaleStatus. */
export function validateScaleStatus(
  object: object,
  { statusReplicasPath, labelSelectorPath }: CustomResourceSubresourceScale,
  errors: FieldError[],
): void {
  validateCount(object, statusReplicasPath, errors);
  if (labelSelectorPath === undefined) return;
  const { problem } = read(object, labelSelectorPath, 'string');
  if (problem !== undefined) errors.push(invalid(labelSelectorPath, '', problem));
}

function validateCount(object: object, path: string, errors: FieldError[]): void {
  const { value = 0, problem } = read(object, path, 'int64');
  if (problem !== undefined) errors.push(invalid(path, 0, problem));
  else if ((value as number) < 0) errors.push(invalid(path, value, 'should be a non-negative integer'));
  else if ((value as number) > MAX_INT32)
    errors.push(invalid(path, value, `should be less than or equal to ${MAX_INT32}`));
}

/** The value at a simple path, as Go's NestedInt64 and NestedString read it. */
function read(
  object: object,
  path: string,
  type: 'int64' | 'string',
): { readonly value?: unknown; readonly problem?: string } {
  const steps = path.replace(/^\./, '').split('.');
  let value: unknown = object;
  for (const [index, step] of steps.entries()) {
    if (value === null) return {};
    if (!isJsonObject(value))
      return { problem: accessorProblem(steps.slice(0, index + 1), value, 'map[string]interface{}') };
    value = ownField(value, step);
    if (value === undefined) return {};
  }
  return goTypeOf(value) === type ? { value } : { problem: accessorProblem(steps, value, type) };
}

function accessorProblem(steps: readonly string[], value: unknown, wanted: string): string {
  return `.${steps.join('.')} accessor error: ${goValue(value)} is of the type ${goTypeOf(value)}, expected ${wanted}`;
}
