import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { compileRequestExpression, validateExpression } from './request-expression.js';
import { duplicate, required, tooMany } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

const MAX_CONDITIONS = 64;

/** Named expressions that all must hold. Source: validateMatchConditions. */
export function validateMatchConditions(
  conditions: readonly { readonly name?: string; readonly expression?: string }[] | undefined,
  path: string,
  errors: FieldError[],
  { hasParams = false }: { readonly hasParams?: boolean } = {},
): void {
  if (!conditions) return;
  if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(path, conditions.length, MAX_CONDITIONS));
  const names = new Set<string>();
  conditions.forEach(({ name, expression }, index) => {
    const at = `${path}[${index}]`;
    if (!expression?.trim()) errors.push(required(`${at}.expression`));
    else {
      const compiled = compileRequestExpression(expression.trim(), { hasParams });
      validateExpression(compiled, `${at}.expression`, ['bool'], errors);
    }
    if (!name) {
      errors.push(required(`${at}.name`));
      return;
    }
    validateSyntax(name, checkQualifiedName, `${at}.name`, errors);
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
  });
}
