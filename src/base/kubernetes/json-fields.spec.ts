import { describe, expect, it } from 'vitest';
import { ownField, setField } from './json-fields.js';

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
