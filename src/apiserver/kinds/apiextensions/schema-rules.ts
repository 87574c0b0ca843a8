import type { StructuralSchema } from '../../schema/index.js';
import type { ValidationRule } from '../custom/rules/compile-rule.js';
import { compileRule, isRuleProblem } from '../custom/rules/compile-rule.js';
import { fieldAt } from '../custom/rules/relative-path.js';
import { ruleTypeOf } from '../custom/rules/rule-types.js';
import { SchemaSizes } from '../custom/rules/schema-sizes.js';
import { isSchema } from '../custom/structural/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { internalForm } from '../validation/internal-form.js';
import { internalError, invalid, notSupported, required } from '../validation/field-errors.js';
import { RuleCosts } from './rule-costs.js';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
/** More than any real definition has; compiling each blocks all requests for a moment. */
const MAX_RULES = 2_000;

/** The position of rules in a schema. */
export interface RulePlace {
  readonly path: string;
  /** The values are whole resources. */
  readonly isResource: boolean;
  /** The list whose items have no identity, so that old values below it are unknown. */
  readonly uncorrelated: string | undefined;
  /** How many of the values an object may have, as far as the schema says; Infinity where it does not. */
  readonly repetitions: number;
}

/** Finds the faults of rules before they are compiled. */
export function validateRuleFields(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  schema['x-kubernetes-validations']?.forEach((rule, index) =>
    validateFields(rule, `${path}.x-kubernetes-validations[${index}]`, schema, errors),
  );
}

function validateFields(
  rule: ValidationRule,
  path: string,
  schema: StructuralSchema,
  errors: FieldError[],
): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const [expression, text] = [(rule.rule ?? '').trim(), message.trim()];
  if (expression === '') errors.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && text === '')
    errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  else if (hasNewlines(text))
    errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  else if (hasNewlines(expression) && text === '')
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  if (reason !== undefined && !REASONS.includes(reason))
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  if (fieldPath === '') return;
  const complain = (detail: string): void =>
    void errors.push(invalid(`${path}.fieldPath`, fieldPath, detail));
  if (fieldPath.trim() === '') complain('must be non-empty if specified');
  if (hasNewlines(fieldPath)) complain('must not contain line breaks');
  if ('problem' in fieldAt(fieldPath, schema)) complain('must be a valid path');
}

function hasNewlines(text: string): boolean {
  return /[\n\r]/.test(text);
}

/** Compiles the rules of one schema, and adds up what they may cost. */
export class RuleCompiler {
  private readonly costs = new RuleCosts(new SchemaSizes());

  /** @throws RangeError for more rules than the server compiles */
  static of(schema: StructuralSchema, path: string, errors: FieldError[]): RuleCompiler | undefined {
    const count = countRules(schema);
    if (count <= MAX_RULES) return new RuleCompiler();
    errors.push(invalid(path, count, `must not have more than ${MAX_RULES} validation rules`));
    return undefined;
  }

  /** Source: ValidateCustomResourceDefinitionOpenAPISchema in apiextensions-apiserver/pkg/apis/apiextensions/validation. */
  compile(schema: StructuralSchema, place: RulePlace, errors: FieldError[]): void {
    const rules = schema['x-kubernetes-validations'] ?? [];
    if (rules.length === 0) return;
    const path = `${place.path}.x-kubernetes-validations`;
    const self = ruleTypeOf(schema, place.isResource);
    if (!self) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      errors.push(internalError(path, detail));
      return;
    }
    rules.forEach((rule, index) => {
      const compiled = compileRule(rule, self);
      const at = `${path}[${index}]`;
      const usable = isRuleProblem(compiled) ? compiled.compiled : compiled;
      if (usable) this.costs.judge(usable, at, { schema, ...place }, errors);
      if (isRuleProblem(compiled)) {
        const shown = internalForm('apiextensions.ValidationRule', rule);
        errors.push(invalid(`${at}.${compiled.field}`, shown, compiled.problem));
      }
      const usesOldSelf = usable?.usesOldSelf ?? false;
      if (usesOldSelf && place.uncorrelated !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
        errors.push(invalid(`${at}.rule`, rule.rule, detail));
      } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
        const detail = 'may not be set if oldSelf is not used in rule';
        errors.push(invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, detail));
      }
    });
  }

  judgeTotal(path: string, errors: FieldError[]): void {
    this.costs.judgeTotal(path, errors);
  }
}

function countRules(schema: StructuralSchema): number {
  const parts = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  const own = schema['x-kubernetes-validations']?.length ?? 0;
  return parts.reduce<number>((sum, part) => sum + (isSchema(part) ? countRules(part) : 0), own);
}
