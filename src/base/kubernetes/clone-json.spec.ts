import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cloneJson } from './clone-json.js';

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
