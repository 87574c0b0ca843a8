import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { RuleWithOperations } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';

export const ADMISSION_GROUP = 'admissionregistration.k8s.io';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/**
 * Validates the rule that selects requests. Source: validateRuleWithOperations in
 * pkg/apis/admissionregistration/validation.
 */
export function validateRule(
  { operations = [], apiGroups = [], apiVersions = [], resources = [], scope }: Decoded<RuleWithOperations>,
  path: string,
  errors: FieldError[],
): void {
  const list = (name: string, values: readonly string[], what: string, mayBeEmpty: boolean): void => {
    const field = `${path}.${name}`;
    if (values.length === 0) errors.push(required(field));
    if (values.length > 1 && values.includes('*'))
      errors.push(invalid(field, values, `if '*' is present, must not specify other ${what}`));
    if (mayBeEmpty) return;
    values.forEach((value, index) => {
      if (value === '') errors.push(required(`${field}[${index}]`));
    });
  };
  list('operations', operations, 'operations', true);
  operations.forEach((operation, index) => {
    if (!OPERATIONS.includes(operation))
      errors.push(notSupported(`${path}.operations[${index}]`, operation, OPERATIONS));
  });
  list('apiGroups', apiGroups, 'API groups', true);
  list('apiVersions', apiVersions, 'API versions', false);
  validateResources(resources, `${path}.resources`, errors);
  if (scope !== undefined && !SCOPES.includes(scope))
    errors.push(notSupported(`${path}.scope`, scope, SCOPES));
}

/** Source: validateResources. */
function validateResources(resources: readonly string[], path: string, errors: FieldError[]): void {
  if (resources.length === 0) errors.push(required(path));
  const whole = new Set<string>();
  const parts = new Set<string>();
  resources.forEach((text, index) => {
    const field = `${path}[${index}]`;
    if (text === '') {
      errors.push(required(field));
      return;
    }
    const [resource = '', part = ''] = text.split('/');
    if (whole.has(resource) || whole.has('*'))
      if (part !== '' && (whole.has(resource) || resource === '*'))
        errors.push(invalid(field, text, `if '${resource}/*' is present, must not specify ${text}`));
    if (part !== '' && parts.has(part))
      errors.push(invalid(field, text, `if '*/${part}' is present, must not specify ${text}`));
    if (part === '*') whole.add(resource);
    if (resource === '*' && part !== '') parts.add(part);
  });
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && resources.some((text) => text !== '*' && !text.includes('/')))
    errors.push(
      invalid(path, resources, "if '*' is present, must not specify other resources without subresources"),
    );
}
