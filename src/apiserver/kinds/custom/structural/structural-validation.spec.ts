import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../../schema/index.js';
import type { FieldError } from '../../kind-definition.js';
import { validateEmbedded } from './embedded-resources.js';
import { validateStructural } from './structural-validation.js';
import { validateUnique } from './unique-items.js';

interface Case {
  readonly name: string;
  readonly schema: StructuralSchema;
  readonly value: unknown;
  /** `field: message`, one for each complaint. */
  readonly complaints: readonly string[];
}

function complaintsOf(value: unknown, schema: StructuralSchema, old?: unknown): string[] {
  const errors: FieldError[] = [];
  const root: StructuralSchema = { type: 'object', properties: { spec: schema } };
  const before = old === undefined ? undefined : { spec: old };
  validateStructural({ spec: value }, root, '', errors, before);
  validateEmbedded({ spec: value }, root, '', errors);
  validateUnique({ spec: value }, root, '', errors);
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const NAMED: StructuralSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 5 } } },
};

const CASES: readonly Case[] = [
  {
    name: 'a value of a wrong type',
    schema: { type: 'integer' },
    value: 'two',
    complaints: ['spec: Invalid value: "string": spec in body must be of type integer: "string"'],
  },
  {
    name: 'a null where none may be',
    schema: { type: 'string' },
    value: null,
    complaints: ['spec: Invalid value: "null": spec in body must be of type string: "null"'],
  },
  {
    name: 'a null where one may be',
    schema: { type: 'string', nullable: true },
    value: null,
    complaints: [],
  },
  {
    name: 'a field that is missing',
    schema: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } },
    value: {},
    complaints: ['spec.size: Required value'],
  },
  {
    name: 'a word that nobody knows',
    schema: { type: 'string', enum: ['a', 'b'] as never },
    value: 'c',
    complaints: ['spec: Unsupported value: "c": supported values: "a", "b"'],
  },
  {
    name: 'numbers out of their range',
    schema: {
      type: 'object',
      properties: {
        most: { type: 'integer', maximum: 10 },
        least: { type: 'integer', minimum: 1, exclusiveMinimum: true },
      },
    },
    value: { most: 11, least: 1 },
    complaints: [
      'spec.most: Invalid value: 11: spec.most in body should be less than or equal to 10',
      'spec.least: Invalid value: 1: spec.least in body should be greater than 1',
    ],
  },
  {
    name: 'a text that does not match',
    schema: { type: 'string', pattern: '^a+$', minLength: 3 },
    value: 'b',
    complaints: ['spec: Invalid value: "b": spec in body should be at least 3 chars long'],
  },
  {
    name: 'a text without its format',
    schema: { type: 'string', format: 'date-time' },
    value: 'today',
    complaints: ['spec: Invalid value: "today": spec in body must be of type date-time: "today"'],
  },
  {
    name: 'a format that nobody knows',
    schema: { type: 'string', format: 'colour' },
    value: 'x',
    complaints: [],
  },
  {
    name: 'lists of a wrong length',
    schema: { type: 'array', maxItems: 1, items: { type: 'string' } },
    value: ['a', 'b'],
    complaints: ['spec: Too many: 2: must have at most 1 items'],
  },
  {
    name: 'an item twice in a set',
    schema: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    value: ['a', 'a'],
    complaints: ['spec[1]: Duplicate value: "a"'],
  },
  {
    name: 'a key twice in a list that is a map',
    schema: NAMED,
    value: [{ name: 'a' }, { name: 'a', size: 6 }],
    complaints: [
      'spec[1].size: Invalid value: 6: spec[1].size in body should be less than or equal to 5',
      'spec[1]: Duplicate value: {"name":"a"}',
    ],
  },
  {
    name: 'values of a map',
    schema: { type: 'object', additionalProperties: { type: 'boolean' } },
    value: { a: true, b: 'yes' },
    complaints: ['spec.b: Invalid value: "string": spec.b in body must be of type boolean: "string"'],
  },
  {
    name: 'a number or a text',
    schema: { 'x-kubernetes-int-or-string': true },
    value: 1.5,
    complaints: ['spec: Invalid value: "number": spec in body must be of type integer,string: "number"'],
  },
  {
    name: 'a resource within another one that does not say what it is',
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true },
    value: { kind: 'Pod' },
    complaints: ['spec.apiVersion: Required value'],
  },
  {
    name: 'none of several alternatives',
    schema: {
      type: 'object',
      properties: { a: {}, b: {} },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    value: {},
    complaints: [
      '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
      'spec.a: Required value',
    ],
  },
];

describe('values of custom resources', () => {
  it.each(CASES)('are judged in the genuine words: $name', ({ schema, value, complaints }) => {
    expect(complaintsOf(value, schema)).toEqual(complaints);
  });

  it('are not judged again where an update left them alone', () => {
    const old = [{ name: 'a', size: 9 }];
    expect(complaintsOf([{ name: 'a', size: 9 }], NAMED, old)).toEqual([]);
    expect(
      complaintsOf(
        [
          { name: 'b', size: 1 },
          { name: 'a', size: 9 },
        ],
        NAMED,
        old,
      ),
    ).toEqual([]);
    expect(complaintsOf([{ name: 'a', size: 8 }], NAMED, old)).toHaveLength(1);
  });
});
