import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { isResourceField, pruned } from '../../schema/index.js';
import type { StructuralSchema } from '../../schema/index.js';
import { validateEmbedded } from '../custom/structural/embedded-resources.js';
import { ruleTreeOf } from '../custom/rules/rule-tree.js';
import { validateRules } from '../custom/rules/validate-rules.js';
import { isSchema } from '../custom/structural/structural-defaults.js';
import { validateStructural } from '../custom/structural/structural-validation.js';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';

/**
 * Whether the defaults of a structural schema are valid values of it, without fields that it does not know.
 * Source: ValidateDefaults in apiextensions-apiserver/pkg/apiserver/schema/defaulting.
 */
export function validateDefaults(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const { items, properties = {} } = schema;
  if (schema.default !== undefined) validateDefault(schema.default, schema, `${path}.default`, errors);
  // There may be none below additionalProperties.
  if (isSchema(items)) validateDefaults(items, `${path}.items`, errors);
  for (const [name, property] of Object.entries(properties))
    validateDefaults(property, `${path}.properties[${name}]`, errors);
}

function validateDefault(value: unknown, schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const before = errors.length;
  if (hasUnknown(value, schema)) errors.push(invalid(path, value, 'must not have unknown fields'));
  for (const validate of [judgeResources, judgeValue, judgeRules]) {
    const found: FieldError[] = [];
    validate(value, schema, found);
    for (const error of found)
      errors.push({ ...error, field: placed(error.field, path, validate !== judgeValue) });
    if (errors.length > before && found.length > 0) return;
  }
}

/** @param joins whether an index follows the path without a point */
function placed(field: string, path: string, joins: boolean): string {
  if (field === '<nil>' || field === '') return path;
  return joins && field.startsWith('[') ? `${path}${field}` : `${path}.${field}`;
}

function judgeResources(value: unknown, schema: StructuralSchema, errors: FieldError[]): void {
  validateEmbedded(value, schema, '', errors);
}

function judgeValue(value: unknown, schema: StructuralSchema, errors: FieldError[]): void {
  validateStructural(value, schema, '', errors);
}

/** A default comes with a new object, and stays in one that is updated. */
function judgeRules(value: unknown, schema: StructuralSchema, errors: FieldError[]): void {
  const rules = ruleTreeOf(schema, schema['x-kubernetes-embedded-resource'] === true);
  if (!rules) return;
  validateRules(rules, value, value, errors);
  if (errors.length === 0) validateRules(rules, value, undefined, errors);
}

function hasUnknown(value: unknown, schema: StructuralSchema): boolean {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isSchema(items) && value.some((item) => hasUnknown(item, items));
  }
  if (!isJsonObject(value)) return false;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  return Object.keys(value).some((name) => {
    if (isResource && isResourceField(name)) return false;
    const property = pruned(schema, name);
    return property === 'unknown' || (property !== 'anything' && hasUnknown(value[name], property));
  });
}
