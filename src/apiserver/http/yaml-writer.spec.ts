import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { propertyRuns } from '../../testing/property-runs.js';
import { yamlItem, yamlText } from './yaml-writer.js';

const aText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'ab:#- \n\t"\'{}[],&*!|>%@`~=<0123.eExyn') }),
  fc.constantFrom(
    'yes',
    'no',
    'null',
    '~',
    '1e3',
    '0x1f',
    '012',
    '2026-11-26T12:00:00Z',
    '1:30',
    '.5',
    '=',
    '<<',
  ),
);
const aValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    aText,
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(aText, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** Go's reader knows the words of YAML 1.1. */
function read(text: string): unknown {
  return parse(text, { version: '1.1', schema: 'yaml-1.1', stringKeys: true, logLevel: 'silent' }) as unknown;
}

describe('a value in YAML', () => {
  it('is written with its keys in order, and lists at the depth of their keys', () => {
    const object = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      data: { 'a.b': 'one\ntwo\n', empty: '', on: 'yes', list: ['x', { b: 1, a: [] }, ['z']] },
      metadata: {},
    };
    expect(yamlText(object)).toBe(
      [
        'apiVersion: v1',
        'data:',
        '  a.b: |',
        '    one',
        '    two',
        '  empty: ""',
        '  list:',
        '  - x',
        '  - a: []',
        '    b: 1',
        '  - - z',
        '  "on": "yes"',
        'kind: ConfigMap',
        'metadata: {}',
        '',
      ].join('\n'),
    );
  });

  it('is the value again when it is read', () => {
    fc.assert(
      fc.property(aValue, (value) => {
        expect(read(yamlText(value))).toEqual(value);
        expect(read(yamlItem(value))).toEqual([value]);
      }),
      propertyRuns({ gate: 200 }),
    );
  });
});
