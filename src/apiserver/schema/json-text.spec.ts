import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countKeys, inspectJson } from './json-text.js';
import { repeatedKeysOf, repeatedLinesOf } from './repeated-keys.js';

function keysOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + keysOf(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, item) => sum + 1 + keysOf(item), 0);
}

describe('JSON texts', () => {
  it('have as many keys as are counted, whatever stands in them, and no fault', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2), (json, indent) => {
        const value: unknown = JSON.parse(json);
        const text = JSON.stringify(value, undefined, indent);
        expect(countKeys(text)).toBe(keysOf(value));
        expect(repeatedKeysOf(text)).toEqual([]);
      }),
    );
  });

  it('are found faulty exactly when JSON.parse finds them so', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 2 }),
        fc.nat(),
        fc.constantFrom('', '"', '}', ',', 'x', '\\'),
        (json, at, odd) => {
          const cut = at % (json.length + 1);
          const text = json.slice(0, cut) + odd + json.slice(cut + 1);
          let isJson = true;
          try {
            JSON.parse(text);
          } catch {
            isJson = false;
          }
          if (isJson) expect(() => inspectJson(text)).not.toThrow();
          else expect(() => inspectJson(text)).toThrow(/invalid character|unexpected end/);
        },
      ),
    );
  });

  it('may have the same key in different objects', () => {
    expect(repeatedKeysOf('[{"a":1},{"a":{"a":2}}]')).toEqual([]);
    expect(repeatedKeysOf('[{"a":{"b":1,"b":2}}]')).toEqual([{ problem: 'duplicate', path: '[0].a.b' }]);
  });

  it('repeat a key at the line of its value', () => {
    expect(repeatedLinesOf('{"a":1,\n"a":2,\n\n"a":\n3}')).toEqual([
      { problem: 'repeated', path: '"a"', line: 2 },
      { problem: 'repeated', path: '"a"', line: 5 },
    ]);
  });
});
