import { describe, expect, it } from 'vitest';
import { sameJson, cloneJson, ownField, setField } from './json-values.js';
import fc from 'fast-check';

describe('the same JSON', () => {
  it.each([
    [
      { a: 1, b: [{ c: null }] },
      { b: [{ c: null }], a: 1 },
    ],
    [{ a: undefined }, {}],
    [[], []],
    ['x', 'x'],
  ])('is in %j and %j, whatever the order of fields', (a, b) => {
    expect(sameJson(a, b)).toBe(true);
    expect(sameJson(b, a)).toBe(true);
  });

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, {}],
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [[], {}],
    [{}, null],
    [undefined, []],
    ['1', 1],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }],
  ])('is not in %j and %j', (a, b) => {
    expect(sameJson(a, b)).toBe(false);
    expect(sameJson(b, a)).toBe(false);
  });
});

describe('cloneJson', () => {
  it('gives an equal value, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(cloneJson(value)).toEqual(value);
      }),
    );
  });

  it('shares nothing with the original', () => {
    const original = { list: [{ deep: { value: 1 } }], map: { a: 'b' } };
    const copy = cloneJson(original);
    copy.list[0]!.deep.value = 2;
    copy.list.push({ deep: { value: 3 } });
    copy.map.a = 'c';
    expect(original).toEqual({ list: [{ deep: { value: 1 } }], map: { a: 'b' } });
  });

  it('keeps a field that is there and undefined', () => {
    expect('gone' in cloneJson({ gone: undefined })).toBe(true);
  });

  it('takes a field named __proto__ for a field', () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":{"deep":true}}}') as object;
    const copy = cloneJson(hostile);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(hostile));
  });
});

const NAMES = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'plain'];

describe('a field of JSON', () => {
  it.each(NAMES)('named %s is not there before it is set', (name) => {
    expect(ownField({}, name)).toBeUndefined();
    expect(ownField(undefined, name)).toBeUndefined();
  });

  it.each(NAMES)('named %s is there once it is set, and nobody else has it', (name) => {
    const fields: Record<string, unknown> = {};
    setField(fields, name, { polluted: true });
    expect(ownField(fields, name)).toEqual({ polluted: true });
    expect(Object.keys(fields)).toEqual([name]);
    expect(JSON.stringify(fields)).toBe(`{"${name}":{"polluted":true}}`);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });
});
