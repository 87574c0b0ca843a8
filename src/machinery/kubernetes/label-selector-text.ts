import { parseInt64 } from './int64.js';
import { ownField } from './json-values.js';
import type { LabelMatcher, LabelSelector } from './label-selector.js';
import type { Decoded } from './decoded.js';
import type { DeepReadonly } from './objects.js';

const QUALIFIED = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const SET_BASED = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^=!<>\s]+)\s*(==|=|!=|>|<)\s*([^=!<>\s]*)$/;

/** The text is not a valid label selector. */
export class LabelSelectorSyntaxError extends Error {
  constructor(text: string, problem: string) {
    super(`unable to parse requirement: ${problem} in ${JSON.stringify(text)}`);
    this.name = 'LabelSelectorSyntaxError';
  }
}

/**
 * Compiles a label selector in text form, as used by people and the API's parameter: `a=b`, `a==b`, `a!=b`,
 * `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by commas. An empty text is no selector.
 * @throws LabelSelectorSyntaxError
 */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  if (text.trim() === '') return undefined;
  const matchers = splitRequirements(text).map((requirement) => compileRequirement(requirement.trim(), text));
  return (labels) => matchers.every((matches) => matches(labels));
}

/** Splits at commas outside of parentheses. */
function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function compileRequirement(requirement: string, text: string): LabelMatcher {
  const set = SET_BASED.exec(requirement);
  if (set) {
    const key = checkedKey(set[1]!, text);
    const values = new Set(set[3]!.split(',').map((value) => checkedValue(value.trim(), text)));
    if (set[2] === 'in') return (labels) => values.has(ownField(labels, key) as string);
    return (labels) => !values.has(ownField(labels, key) as string);
  }
  const equality = EQUALITY.exec(requirement);
  if (equality) return compileEquality(equality[1]!, equality[2]!, equality[3]!, text);
  if (requirement.startsWith('!')) {
    const key = checkedKey(requirement.slice(1).trim(), text);
    return (labels) => ownField(labels, key) === undefined;
  }
  const key = checkedKey(requirement, text);
  return (labels) => ownField(labels, key) !== undefined;
}

function compileEquality(rawKey: string, operator: string, rawValue: string, text: string): LabelMatcher {
  const key = checkedKey(rawKey, text);
  const value = checkedValue(rawValue, text);
  switch (operator) {
    case '!=':
      return (labels) => ownField(labels, key) !== value;
    case '>':
    case '<': {
      const bound = integer(value, text);
      return (labels) => {
        const label = parseInt64(ownField(labels, key) ?? '');
        if (label === undefined) return false;
        return operator === '>' ? label > bound : label < bound;
      };
    }
    default:
      return (labels) => ownField(labels, key) === value;
  }
}

function checkedKey(key: string, text: string): string {
  if (!QUALIFIED.test(key)) throw unparsable(text, `invalid label key ${JSON.stringify(key)}`);
  return key;
}

function checkedValue(value: string, text: string): string {
  if (!VALUE.test(value)) throw unparsable(text, `invalid label value ${JSON.stringify(value)}`);
  return value;
}

function integer(value: string, text: string): bigint {
  const bound = parseInt64(value);
  if (bound !== undefined) return bound;
  throw unparsable(text, "for 'Gt', 'Lt' operators, the value must be an integer");
}

function unparsable(text: string, problem: string): Error {
  return new LabelSelectorSyntaxError(text, problem);
}

/** A label selector as the status of a Scale has it, `app=web,tier in (a,b)`; sorted by key, empty where there is nothing. */
export function selectorText(selector: DeepReadonly<Decoded<LabelSelector>> | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const expressions = (selector?.matchExpressions ?? []).map(({ key = '', operator = '', values = [] }) => ({
    key,
    text: expressionText(key, operator, values),
  }));
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function expressionText(key: string, operator: string, values: readonly string[]): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${[...values].sort().join(',')})`;
  }
}
