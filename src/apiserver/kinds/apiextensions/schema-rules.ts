import type { StructuralSchema } from '../../schema/index.js';
import type { ValidationRule } from '../custom/rules/compile-rule.js';
import { compileRule, isRuleProblem } from '../custom/rules/compile-rule.js';
import { checkRelativePath } from '../custom/rules/relative-path.js';
import { ruleTypeOf } from '../custom/rules/rule-types.js';
import { SchemaSizes } from '../custom/rules/schema-sizes.js';
import { isSchema } from '../custom/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';
import { RuleCosts, repetitionsBelow } from './rule-costs.js';

const REASONS = ['FieldValueRequired', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueDuplicate'];
/** More than any real definition has; compiling each blocks all requests for a moment. */
const MAX_RULES = 2_000;

/** The position of rules in a schema. */
interface Place {
  readonly path: string;
  /** The values are whole resources. */
  readonly isResource: boolean;
  /** The list whose items have no identity, so that old values below it are unknown. */
  readonly uncorrelated?: string;
  /** How many of the values an object may have, as far as the schema says; Infinity where it does not. */
  readonly repetitions: number;
  /** Undefined below `allOf`, where the genuine server does not estimate either. */
  readonly costs?: RuleCosts;
}

/** Source: ValidateCustomResourceDefinitionOpenAPISchema in apiextensions-apiserver/pkg/apis/apiextensions/validation. */
export function validateSchemaRules(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const count = countRules(schema);
  if (count > MAX_RULES) {
    errors.push(invalid(path, count, `must not have more than ${MAX_RULES} validation rules`));
    return;
  }
  if (count === 0) return;
  const costs = new RuleCosts(new SchemaSizes());
  visit(schema, schema, { path, isResource: true, repetitions: 1, costs }, errors);
  costs.judgeTotal(path, errors);
}

function countRules(schema: StructuralSchema): number {
  const parts = [
    ...Object.values(schema.properties ?? {}),
    schema.items,
    schema.additionalProperties,
    ...(schema.allOf ?? []),
  ];
  const own = schema['x-kubernetes-validations']?.length ?? 0;
  return parts.reduce<number>((sum, part) => sum + (isSchema(part) ? countRules(part) : 0), own);
}

function visit(
  judging: StructuralSchema,
  schema: StructuralSchema,
  place: Place,
  errors: FieldError[],
): void {
  const { path, uncorrelated, costs } = place;
  const repetitions = repetitionsBelow(schema, place.repetitions);
  judging['x-kubernetes-validations']?.forEach((rule, index) =>
    validateRule(rule, `${path}.x-kubernetes-validations[${index}]`, schema, place, errors),
  );
  const descend = (part: unknown, described: unknown, below: Pick<Place, 'path' | 'uncorrelated'>): void => {
    if (isSchema(part) && isSchema(described))
      visit(
        part,
        described,
        {
          ...below,
          isResource: described['x-kubernetes-embedded-resource'] === true,
          repetitions,
          ...(costs && { costs }),
        },
        errors,
      );
  };
  const known = uncorrelated === undefined ? {} : { uncorrelated };
  const isMap = schema['x-kubernetes-list-type'] === 'map';
  descend(judging.items, schema.items, {
    path: `${path}.items`,
    ...(isMap ? known : { uncorrelated: uncorrelated ?? path }),
  });
  descend(judging.additionalProperties, schema.additionalProperties, {
    path: `${path}.additionalProperties`,
    ...known,
  });
  for (const [name, property] of Object.entries(judging.properties ?? {}))
    descend(property, schema.properties?.[name], { path: `${path}.properties[${name}]`, ...known });
  const { costs: _costs, ...uncosted } = place;
  judging.allOf?.forEach((part, index) =>
    visit(part, schema, { ...uncosted, path: `${path}.allOf[${index}]` }, errors),
  );
}

function validateRule(
  rule: ValidationRule,
  path: string,
  schema: StructuralSchema,
  { isResource, uncorrelated, repetitions, costs }: Place,
  errors: FieldError[],
): void {
  const { message = '', reason, fieldPath } = rule;
  if (!rule.rule?.trim()) {
    errors.push(required(`${path}.rule`, 'rule is not specified'));
    return;
  }
  if (message !== '' && message.trim() === '')
    errors.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (message.trim().includes('\n'))
    errors.push(invalid(`${path}.message`, message, 'message must not contain line breaks'));
  else if (message === '' && rule.rule.trim().includes('\n'))
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (reason !== undefined && !REASONS.includes(reason))
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  const wrongPath = fieldPath === undefined ? undefined : checkRelativePath(fieldPath, schema);
  if (wrongPath !== undefined)
    errors.push(invalid(`${path}.fieldPath`, fieldPath, `fieldPath must be a valid path: ${wrongPath}`));
  const self = ruleTypeOf(schema, isResource);
  if (!self) {
    const detail = `rule declared on schema that does not support validation rules type: '${schema.type ?? ''}' x-kubernetes-preserve-unknown-fields: '${schema['x-kubernetes-preserve-unknown-fields'] ?? false}'`;
    errors.push(invalid(`${path}.rule`, rule.rule, detail));
    return;
  }
  const compiled = compileRule(rule, self);
  if (isRuleProblem(compiled)) {
    errors.push(invalid(`${path}.${compiled.field}`, shownRule(rule), compiled.problem));
    return;
  }
  costs?.judge(compiled, path, { schema, isResource, repetitions }, errors);
  if (rule.optionalOldSelf && !compiled.usesOldSelf)
    errors.push(
      invalid(`${path}.optionalOldSelf`, true, 'may not be set to true if oldSelf is not used in rule'),
    );
  if (compiled.usesOldSelf && uncorrelated !== undefined)
    errors.push(
      invalid(
        `${path}.rule`,
        rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`,
      ),
    );
}

/** As the genuine server prints a rule: all of its fields, in this order. */
function shownRule(rule: ValidationRule): unknown {
  const {
    message = '',
    messageExpression = '',
    reason = null,
    fieldPath = '',
    optionalOldSelf = null,
  } = rule;
  return {
    Rule: rule.rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf,
  };
}
