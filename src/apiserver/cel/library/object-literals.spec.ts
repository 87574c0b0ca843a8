import { describe, expect, it } from 'vitest';
import {
  CostBudget,
  ObjectLiteral,
  PatchLiteral,
  compileExpression,
  literalMismatch,
  toJson,
} from '../index.js';
import { withObjectLiterals } from './object-literals.js';

function evaluate(expression: string, object: unknown = {}): unknown {
  const { problem, program } = compileExpression(expression, {
    variables: { object: 'dyn' },
    hasLiterals: true,
  });
  if (!program) throw new Error(problem);
  const outcome = program.evaluate({ object }, new CostBudget(1_000_000));
  if (outcome.type !== 'value') throw new Error(outcome.message);
  return outcome.value;
}
const json = (expression: string, object?: unknown) => toJson(evaluate(expression, object));

describe('literals of objects', () => {
  it.each([
    ['Object{}', {}],
    ['Object{spec: Object.spec{replicas: 3, paused: true}}', { spec: { replicas: 3, paused: true } }],
    [
      'Object { metadata : Object.metadata { labels : {"a/b": "c"} } }',
      { metadata: { labels: { 'a/b': 'c' } } },
    ],
    ['Object{a: true ? 1 : 2, b: [1, 2].map(x, x + 1)}', { a: 1, b: [2, 3] }],
    ['Object{?a: optional.of(1), ?b: optional.none()}', { a: 1 }],
    ['Object{a: "Object{b: 1}", c: \'}\'} // Object{d: 1}', { a: 'Object{b: 1}', c: '}' }],
    [
      'Object{list: [Object.list{name: "x"}, Object.list{name: "y"}]}',
      { list: [{ name: 'x' }, { name: 'y' }] },
    ],
    [
      'Object{a: object.b, c: duration("90s"), d: timestamp("2026-01-02T03:04:05Z")}',
      { a: [7], c: '90s', d: '2026-01-02T03:04:05Z' },
    ],
  ])('are what they say: %s', (expression, expected) => {
    expect(json(expression, { b: [7] })).toEqual(expected);
  });

  it('have the fields of a patch in patches, and no others', () => {
    expect(
      json('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b~c"), value: "x"}]'),
    ).toEqual([{ op: 'add', path: '/metadata/labels/a~1b~0c', value: 'x' }]);
    expect(() => evaluate('JSONPatch{where: "/x"}')).toThrow(/no such field: where/);
    expect(evaluate('JSONPatch{op: "remove", path: "/x"}')).toBeInstanceOf(PatchLiteral);
  });

  it('are of the type of the field that they are given to', () => {
    const mismatch = (expression: string) => literalMismatch(evaluate(expression) as ObjectLiteral);
    expect(mismatch('Object{spec: Object.spec{a: {"k": 1}}}')).toBeUndefined();
    expect(mismatch('Object{spec: [Object.spec{}]}')).toBeUndefined();
    expect(mismatch('Object{spec: Object.metadata{}}')).toBe(
      'unexpected type name "Object.metadata", expected "Object.spec", which matches field name path from root Object type',
    );
    expect(evaluate('Object{}')).toBeInstanceOf(ObjectLiteral);
  });

  it('leave everything else as it was written', () => {
    for (const text of ['{"a": 1}.a', 'object.Object', '[1, {"b": {}}]', 'a ? {"x": y} : {}', "r'\\Object{'"])
      expect(withObjectLiterals(text)).toBe(text);
  });

  it('declare their type, so that another one is refused before it runs', () => {
    const typeOf = (expression: string) =>
      compileExpression(expression, { variables: {}, hasLiterals: true }).program?.resultType;
    expect(typeOf('Object{}')).toBe('Object');
    expect(typeOf('[JSONPatch{}]')).toBe('list<JSONPatch>');
    expect(compileExpression('Object{}', { variables: {} }).program).toBeUndefined();
  });
});
