import type { CelType } from '../../../cel/index.js';
import type { StructuralSchema } from '../../../schema/index.js';
import { isSchema } from '../structural/structural-defaults.js';
import type { CompiledRule, RuleProblem, ValidationRule } from './compile-rule.js';
import { compileRule } from './compile-rule.js';
import { ruleTypeOf } from './rule-types.js';

/** The rules of a schema at their positions; branches without rules are omitted. */
export interface RuleNode {
  readonly schema: StructuralSchema;
  readonly rules: readonly ValidationRule[];
  /** Compiled when the first value comes: most rules of most definitions judge nothing for long. */
  compiled(): readonly (CompiledRule | RuleProblem)[];
  readonly items?: RuleNode;
  readonly values?: RuleNode;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly allOf: readonly RuleNode[];
}

/**
 * @param isResource whether the values are whole resources
 * @returns undefined when there are no rules
 */
export function ruleTreeOf(schema: StructuralSchema, isResource = true): RuleNode | undefined {
  return nodeOf(schema, schema, isResource);
}

/**
 * @param judging where rules are looked for: the schema itself, or a part of its `allOf`
 * @param schema what describes the values
 */
function nodeOf(
  judging: StructuralSchema,
  schema: StructuralSchema,
  isResource: boolean,
): RuleNode | undefined {
  const inner = (part: unknown, described: unknown): RuleNode | undefined =>
    isSchema(part) && isSchema(described)
      ? nodeOf(part, described, described['x-kubernetes-embedded-resource'] === true)
      : undefined;
  const rules = judging['x-kubernetes-validations'] ?? [];
  const items = inner(judging.items, schema.items);
  const values = inner(judging.additionalProperties, schema.additionalProperties);
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(judging.properties ?? {})) {
    const node = inner(property, schema.properties?.[name]);
    if (node) properties.set(name, node);
  }
  const allOf = (judging.allOf ?? []).flatMap((part) => nodeOf(part, schema, isResource) ?? []);
  if (rules.length === 0 && !items && !values && properties.size === 0 && allOf.length === 0)
    return undefined;
  let compiled: readonly (CompiledRule | RuleProblem)[] | undefined;
  return {
    schema,
    rules,
    compiled: () => (compiled ??= compileAll(rules, ruleTypeOf(schema, isResource))),
    ...(items && { items }),
    ...(values && { values }),
    properties,
    allOf,
  };
}

function compileAll(
  rules: readonly ValidationRule[],
  self: CelType | undefined,
): (CompiledRule | RuleProblem)[] {
  return rules.map((rule) =>
    self
      ? compileRule(rule, self)
      : { field: 'rule', problem: 'rules need a schema that describes the values' },
  );
}
