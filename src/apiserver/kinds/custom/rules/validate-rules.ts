import { ownField, sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { CostBudget } from '../../../cel/index.js';
import type { StructuralSchema } from '../../../schema/index.js';
import type { FieldError } from '../../kind-definition.js';
import {
  duplicate,
  duplicateOf,
  forbidden,
  invalid,
  invalidFor,
  required,
} from '../../validation/field-errors.js';
import { correlatedItems } from '../structural/correlated-items.js';
import type { CompiledRule, ValidationRule } from './compile-rule.js';
import { isRuleProblem } from './compile-rule.js';
import type { RuleNode } from './rule-tree.js';
import { fieldAt } from './relative-path.js';

/**
 * The largest cost of all rules for one object. A fifth of the genuine server's RuntimeCELCostBudget: one object should
 * not hold up the others for more than a fraction of a second.
 */
const BUDGET = 2_000_000;
const MAX_MESSAGE_LENGTH = 5 * 1024;

/** A value, its old value as far as known, and the position of both. */
interface Place {
  readonly path: string;
  readonly value: unknown;
  readonly old: unknown;
  readonly parent?: Place;
}

/** Ends the evaluation of all rules of an object. */
class OutOfBudget extends Error {}

/**
 * Judges an object by the rules of its schema.
 * Source: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
 * @param old the object before an update
 * @param kept gets what a rule refuses, and an update has not changed. @default dropped
 */
export function validateRules(
  tree: RuleNode,
  object: unknown,
  old: unknown,
  errors: FieldError[],
  kept: FieldError[] = [],
): void {
  const budget = new CostBudget(BUDGET);
  try {
    validateNode(tree, { path: '', value: object, old }, { errors, kept }, budget);
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
  }
}

/** Receives the complaints. */
interface Complaints {
  readonly errors: FieldError[];
  readonly kept: FieldError[];
}

function validateNode(node: RuleNode, place: Place, complaints: Complaints, budget: CostBudget): void {
  const { path, value, old } = place;
  if (value === null || value === undefined) return;
  if (node.rules.length > 0) judge(node, place, complaints, budget);
  // Schemas below `allOf` are judged even if nothing has changed, as far as their own place goes.
  for (const part of node.allOf) validateNode(part, place, complaints, budget);
  if (Array.isArray(value)) {
    if (!node.items) return;
    const before = correlatedItems(old, node.schema);
    for (const [index, item] of value.entries())
      validateNode(
        node.items,
        { path: `${path}[${index}]`, value: item, old: before(item), parent: place },
        complaints,
        budget,
      );
  } else if (isJsonObject(value)) {
    const isAtomic = node.schema['x-kubernetes-map-type'] === 'atomic';
    const before = isJsonObject(old) && !isAtomic ? old : {};
    for (const name of Object.keys(value)) {
      const property = node.properties.get(name);
      const inner = property ?? node.values;
      if (!inner) continue;
      const at = !property ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
      validateNode(
        inner,
        { path: at, value: value[name], old: ownField(before, name), parent: place },
        complaints,
        budget,
      );
    }
  }
}

function judge(node: RuleNode, place: Place, { errors, kept }: Complaints, budget: CostBudget): void {
  const type = typeName(node.schema);
  const field = place.path || '<nil>';
  for (const compiled of node.compiled()) {
    if (isRuleProblem(compiled)) {
      errors.push(invalid(field, type, `rule compile error: ${compiled.problem}`));
      continue;
    }
    const { rule, program, usesOldSelf } = compiled;
    if (usesOldSelf && place.old === undefined && !rule.optionalOldSelf) continue;
    const values = { self: place.value, oldSelf: place.old };
    const outcome = program.evaluate(values, budget);
    if (outcome.type === 'exceeded') {
      const detail =
        budget.remaining <= 0
          ? 'validation failed due to running out of cost budget, no further validation rules will be run'
          : `'${outcome.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shownRule(rule)}`;
      errors.push(invalid(field, type, detail));
      throw new OutOfBudget();
    }
    if (outcome.type === 'error') {
      errors.push(invalid(field, type, failure(outcome.message, rule)));
    } else if (outcome.value !== true) {
      const isKept = !usesOldSelf && isUnchanged(place);
      (isKept ? kept : errors).push(complaint(compiled, node, place, values, budget));
    }
  }
}

/** A value that broke a rule before and was not touched may stay. */
function isUnchanged({ value, old, parent }: Place): boolean {
  if (old !== undefined) return sameJson(value, old);
  return parent !== undefined && isUnchanged(parent);
}

function complaint(
  { rule, message }: CompiledRule,
  { schema }: RuleNode,
  { path, value }: Place,
  values: Readonly<Record<string, unknown>>,
  budget: CostBudget,
): FieldError {
  const found = fieldAt(rule.fieldPath ?? '', schema);
  const below = 'problem' in found ? '' : found.shown;
  const field = `${path}${path === '' ? below.replace(/^\./, '') : below}` || '<nil>';
  const outcome = message?.evaluate(values, budget);
  const said = outcome?.type === 'value' ? usableMessage(outcome.value) : undefined;
  const detail = said ?? (rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`);
  // Objects and lists are not shown.
  const isOmitted = schema.type === 'object' || schema.type === 'array';
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return isOmitted ? duplicateOf(field) : duplicate(field, value);
    default:
      return isOmitted ? invalidFor(field, detail) : invalid(field, value, detail);
  }
}

/** One line that says something; else the fixed message counts. */
function usableMessage(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.length > MAX_MESSAGE_LENGTH || text.includes('\n') ? undefined : text;
}

function failure(message: string, rule: ValidationRule): string {
  if (message.startsWith('no such overload'))
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${shownRule(rule)}`;
  return `${message} evaluating rule: ${shownRule(rule)}`;
}

function shownRule({ rule = '', message }: ValidationRule): string {
  return (message || rule).trim();
}

function typeName({ type }: StructuralSchema): string {
  return type ?? '';
}
