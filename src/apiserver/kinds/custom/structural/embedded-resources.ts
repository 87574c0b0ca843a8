import { checkDns1035Label, isJsonObject, ownField } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../../schema/index.js';
import type { FieldError } from '../../kind-definition.js';
import { invalid, required } from '../../validation/field-errors.js';
import { isSchema } from './structural-defaults.js';

/**
 * Judges what every resource has, of the resources within a value.
 * Source: Validate in apiextensions-apiserver/pkg/apiserver/schema/objectmeta.
 * @param path of the value, empty for the whole object
 */
export function validateEmbedded(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (isSchema(items))
      value.forEach((item, index) => validateEmbedded(item, items, `${path}[${index}]`, errors));
    return;
  }
  if (!isJsonObject(value)) return;
  if (schema['x-kubernetes-embedded-resource']) validateResource(value, path, errors);
  const { properties, additionalProperties } = schema;
  for (const name in value) {
    const property = ownField(properties, name);
    if (property) validateEmbedded(value[name], property, below(path, name), errors);
    else if (isSchema(additionalProperties))
      validateEmbedded(value[name], additionalProperties, `${path}[${name}]`, errors);
  }
}

function validateResource(
  resource: Readonly<Record<string, unknown>>,
  path: string,
  errors: FieldError[],
): void {
  for (const name of ['apiVersion', 'kind'])
    if (ownField(resource, name) === undefined) errors.push(required(below(path, name)));
  for (const name in resource) {
    const value = resource[name];
    const complain = (detail: string): void => void errors.push(invalid(below(path, name), value, detail));
    if (name !== 'apiVersion' && name !== 'kind') continue;
    if (typeof value !== 'string') complain('must be a string');
    else if (value === '') complain('must not be empty');
    else if (name === 'apiVersion') {
      if (value.split('/').length > 2) complain(`unexpected GroupVersion string: ${value}`);
    } else {
      const problems = checkDns1035Label(value.toLowerCase());
      if (problems.length > 0)
        complain(`may have mixed case, but should otherwise match: ${problems.join(',')}`);
    }
  }
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
