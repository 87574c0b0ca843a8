import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { CUSTOM_RESOURCE_DEFINITION_KIND } from './apiextensions/custom-resource-definition.kind.js';
import { validateNewDefinition } from './apiextensions/custom-resource-definition.validation.js';
import { collectErrors } from './validation/field-errors.js';

type Definition = Parameters<typeof validateNewDefinition>[0];

/**
 * The objections of the API server to a new CustomResourceDefinition, field by field: structural schemas, rules in CEL
 * and their costs, columns, scale, names. Empty: it takes the definition.
 */
export function definitionProblems(definition: object): readonly string[] {
  const written = parseJson(stringifyJson(definition)) as Definition;
  CUSTOM_RESOURCE_DEFINITION_KIND.applyDefaults(written);
  CUSTOM_RESOURCE_DEFINITION_KIND.prepareForCreate(written);
  const errors = collectErrors((found) => validateNewDefinition(written, found));
  return errors.map(({ field, message }) => `${field}: ${message}`);
}
