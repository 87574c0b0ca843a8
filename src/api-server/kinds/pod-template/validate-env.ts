import type { IEnvVar } from 'kubernetes-models/v1/EnvVar';
import { ownField } from '../../../kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { checkEnvName } from '../validation/syntax.js';
import { validateSyntax } from '../validation/words.js';

/** What a source cannot do without. */
const SOURCE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  fieldRef: ['fieldPath'],
  resourceFieldRef: ['resource'],
  configMapKeyRef: ['key'],
  secretKeyRef: ['key'],
};

/** Source: ValidateEnv in pkg/apis/core/validation/validation.go. */
export function validateEnv(env: readonly IEnvVar[] | undefined, path: string, errors: FieldError[]): void {
  env?.forEach((variable, index) => {
    const at = `${path}[${index}]`;
    if (!variable.name) errors.push(required(`${at}.name`));
    else validateSyntax(variable.name, checkEnvName, `${at}.name`, errors);
    if (variable.valueFrom) validateValueFrom(variable, `${at}.valueFrom`, errors);
  });
}

function validateValueFrom(variable: IEnvVar, path: string, errors: FieldError[]): void {
  const from = variable.valueFrom as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const sources = Object.keys(from);
  for (const source of sources) {
    for (const field of ownField(SOURCE_FIELDS, source) ?? []) {
      if (!from[source]?.[field]) errors.push(required(`${path}.${source}.${field}`));
    }
  }
  if (sources.length === 0) {
    errors.push(
      invalid(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ),
    );
  } else if (variable.value) {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (sources.length > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
}
