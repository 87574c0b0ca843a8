import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../../schema/index.js';
import { compileRule, isRuleProblem } from './compile-rule.js';
import { ruleTypeOf } from './rule-types.js';
import { SchemaSizes } from './schema-sizes.js';

/** A schema with and without the bounds that its author may set. */
type Schemas = (max?: number) => StructuralSchema;

function costOf(schema: StructuralSchema, rule: string, isResource = false): number {
  const compiled = compileRule({ rule }, ruleTypeOf(schema, isResource)!);
  if (isRuleProblem(compiled)) throw new Error(compiled.problem);
  return compiled.program.estimateCost(new SchemaSizes().of(schema, isResource)!);
}

function primitive(type: string): StructuralSchema {
  if (type === 'int-or-string') return { 'x-kubernetes-int-or-string': true };
  const isFormat = ['duration', 'date', 'date-time', 'byte'].includes(type);
  return isFormat ? { type: 'string', format: type } : { type };
}
const PAIR: StructuralSchema = {
  type: 'object',
  properties: { required: { type: 'string' }, optional: { type: 'string' } },
  required: ['required'],
};
const arrayOf =
  (items: StructuralSchema): Schemas =>
  (max) => ({ type: 'array', items, ...(max !== undefined && { maxItems: max }) });
const mapOf =
  (values: StructuralSchema): Schemas =>
  (max) => ({
    type: 'object',
    additionalProperties: values,
    ...(max !== undefined && { maxProperties: max }),
  });
const text: Schemas = (max) => ({ type: 'string', ...(max !== undefined && { maxLength: max }) });
const texts: Schemas = (max) => arrayOf(text(max))(max);
const nested: Schemas = (max) => mapOf(text(max))(max);
const strings: Schemas = (max) => ({
  type: 'object',
  properties: { str: text(max), before: text(2), after: text(4), separator: text(max) },
});

// Figures of TestCostEstimation in apiextensions-apiserver/pkg/apiserver/schema/cel/compilation_test.go.
const RECORDED: readonly [name: string, Schemas, rule: string, unbound: number, max: number, bound: number][] = [
  ['numbers', arrayOf(primitive('number')), 'self.all(x, true)', 4718591, 10, 32],
  ['texts', arrayOf(primitive('string')), 'self.all(x, true)', 3145727, 20, 62],
  ['booleans', arrayOf(primitive('boolean')), 'self.all(x, true)', 1887437, 5, 17],
  ['lists of numbers', arrayOf(arrayOf(primitive('number'))()), 'self.all(x, true)', 3145727, 100, 302],
  ['objects', arrayOf(PAIR), 'self.all(x, true)', 555128, 50, 152],
  ['map of numbers', mapOf(primitive('number')), 'self.all(x, true)', 1348169, 10, 32],
  ['map of texts', mapOf(primitive('string')), 'self.all(x, true)', 1179647, 3, 11],
  ['map of objects', mapOf(PAIR), 'self.all(x, true)', 428963, 20, 62],
  ['map of maps', mapOf(mapOf(primitive('number'))()), 'self.all(x, true)', 1179647, 10, 32],
  ['map of durations', mapOf(primitive('duration')), 'self.all(x, true)', 1048577, 5, 17],
  ['map of dates', mapOf(primitive('date')), 'self.all(x, true)', 524288, 10, 32],
  ['map of times', mapOf(primitive('date-time')), 'self.all(x, true)', 349526, 25, 77],
  ['map of integers or texts', mapOf(primitive('int-or-string')), 'self.all(x, true)', 1348169, 15, 47],
  ['contains', text, 'self.contains("test")', 314574, 10, 5],
  ['startsWith', text, 'self.startsWith("test")', 2, 15, 2],
  ['concatenation', text, 'size(self + "hello") > size("hello")', 314578, 4, 7],
  ['index of numbers', arrayOf(primitive('number')), 'self[1] == 0.0', 2, 5000, 2],
  ['index of texts', arrayOf(primitive('string')), 'self[1] == self[1]', 314577, 8, 314577],
  ['index of objects', arrayOf(PAIR), 'self[0] == null', 2, 422, 2],
  ['index of lists', arrayOf(arrayOf(primitive('number'))()), 'self[0][0] == -1.0', 3, 51, 3],
  ['index of integers or texts', arrayOf(primitive('int-or-string')), 'self[0] == 5', 3, 10, 3],
  ['index of durations', arrayOf(primitive('duration')), 'self[0].getHours() == 2', 4, 525, 4],
  ['index of maps', arrayOf(mapOf(primitive('number'))()), 'self[0].x > 2.0', 4, 3000, 4],
  ['pattern', text, 'self.matches("x")', 314574, 50, 22],
  ['pattern on nothing', text, '"".matches("(((((((((())))))))))[0-9]")', 7, 10, 7],
  ['empty pattern', text, 'self.matches("")', 1, 100, 1],
  ['keys and values', nested, 'self.all(x, x.contains(self[x]))', 2752507, 10, 72],
  ['equality with nothing', text, 'self == "x"', 2, 0, 1],
  ['more than a request holds', arrayOf(primitive('number')), 'self.all(x, x == 0.0)', 6291454, 6291456, 25165826],
  ['find', text, 'self.find("[0-9]+") == ""', 629147, 10, 11],
  ['join', texts, 'self.join(" ") == "aa bb"', 329853068905, 10, 43],
  ['isSorted', texts, 'self.isSorted() == true', 329854432052, 10, 52],
  ['replace', strings, 'self.str.replace(self.before, self.after) == "does not matter"', 629154, 4, 12],
  ['split', strings, 'self.str.split(self.separator) == []', 629160, 10, 22],
  ['lowerAscii', text, 'self.lowerAscii() == "lower!"', 314575, 10, 6],
  ['size', mapOf(primitive('integer')), 'oldSelf.size() == self.size()', 5, 10, 5],
  ['times', mapOf(primitive('date-time')), 'self["a"] == self["b"]', 8, 7, 8],
]; // prettier-ignore

describe('the estimate of what a rule costs at most', () => {
  it.each(RECORDED)('is the genuine one: %s', (_name, schema, rule, unbound, max, bound) => {
    expect(costOf(schema(), rule)).toBe(unbound);
    expect(costOf(schema(max), rule)).toBe(bound);
  });

  it.each([
    ['O(n²)', 'self.all(x, self.all(y, true))', 352],
    ['O(n³)', 'self.all(x, self.all(y, self.all(z, true)))', 3552],
  ])('grows with loops within loops: %s', (_name, rule, bound) => {
    expect(costOf(arrayOf(primitive('number'))(10), rule)).toBe(bound);
    expect(costOf(arrayOf(primitive('number'))(), rule)).toBeGreaterThan(10_000_000);
  });

  it('takes the longest value of an enumeration, unless the schema names a length', () => {
    const values: StructuralSchema = { type: 'string', enum: ['A', 'B', 'C', 'LongValue'] as never };
    expect(costOf(values, 'self.contains("A")')).toBe(2);
    expect(costOf({ ...values, maxLength: 1000 }, 'self.contains("A")')).toBe(401);
  });

  it('knows quantities that may be integers', () => {
    expect(costOf({ 'x-kubernetes-int-or-string': true }, 'isQuantity(self)')).toBe(314574);
    expect(costOf({ 'x-kubernetes-int-or-string': true, maxLength: 20 }, 'isQuantity(self)')).toBe(9);
  });

  it('has field names count for nothing in has(), and the name of a resource be as long as a request', () => {
    expect(costOf({ type: 'object' }, 'has(self.metadata)', true)).toBe(1);
    expect(costOf({ type: 'object' }, 'self.metadata.name == self.metadata.name', true)).toBe(314579);
  });

  it('cannot bound what is not declared, such as the value of an optional', () => {
    const schema: StructuralSchema = { type: 'object', properties: { names: texts(10) } };
    expect(costOf(schema, 'self.?names.orValue([]).all(n, true)')).toBe(Number.POSITIVE_INFINITY);
    expect(costOf(schema, 'self.?names.hasValue() && self.names.all(n, true)')).toBe(36);
  });
});
