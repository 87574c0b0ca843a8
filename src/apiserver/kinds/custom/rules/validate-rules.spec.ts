import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../../schema/index.js';
import { SchemaValidation } from '../../apiextensions/schema-validation.js';
import type { FieldError } from '../../kind-definition.js';
import type { ValidationRule } from './compile-rule.js';
import { ruleTreeOf } from './rule-tree.js';
import { validateRules } from './validate-rules.js';

function schemaWith(spec: StructuralSchema): StructuralSchema {
  return { type: 'object', properties: { spec } };
}

function ruled(rules: readonly ValidationRule[], schema: StructuralSchema = {}): StructuralSchema {
  return {
    type: 'object',
    properties: {
      min: { type: 'integer' },
      max: { type: 'integer' },
      size: { 'x-kubernetes-int-or-string': true },
      'dashed-name': { type: 'string' },
      namespace: { type: 'string' },
    },
    ...schema,
    'x-kubernetes-validations': rules as never,
  };
}

function complaintsOf(schema: StructuralSchema, object: unknown, old?: unknown): string[] {
  const errors: FieldError[] = [];
  validateRules(ruleTreeOf(schema)!, object, old, errors);
  return errors.map(({ type, field, message }) =>
    type === 'FieldValueInvalid' ? `${field}: ${message}` : `${type} ${field}: ${message}`,
  );
}

function problemsOf(schema: StructuralSchema): string[] {
  const errors: FieldError[] = [];
  new SchemaValidation(undefined).validate({ openAPIV3Schema: schema }, 'spec', false, 'v1', errors);
  return errors.map(({ field, message }) =>
    `${field}: ${message}`.replaceAll('spec.openAPIV3Schema', 'schema'),
  );
}

describe('rules of a schema', () => {
  it('judge the values where they stand, in the genuine words', () => {
    const schema = schemaWith(ruled([{ rule: 'self.min <= self.max' }]));
    expect(complaintsOf(schema, { spec: { min: 1, max: 2 } })).toEqual([]);
    expect(complaintsOf(schema, { spec: { min: 3, max: 2 } })).toEqual([
      'spec: Invalid value: failed rule: self.min <= self.max',
    ]);
    expect(complaintsOf(schema, {})).toEqual([]);
  });

  it.each<[string, ValidationRule, string]>([
    ['its message', { message: 'too small ' }, 'spec: Invalid value: too small'],
    [
      'a message that is worked out',
      { message: 'no', messageExpression: '"min is " + string(self.min)' },
      'spec: Invalid value: min is 3',
    ],
    [
      'its message where the expression fails',
      { message: 'plain', messageExpression: '[""][1]' },
      'spec: Invalid value: plain',
    ],
    [
      'its reason',
      { message: 'no', reason: 'FieldValueForbidden' },
      'FieldValueForbidden spec: Forbidden: no',
    ],
    [
      'nothing of what it calls a duplicate',
      { reason: 'FieldValueDuplicate' },
      'FieldValueDuplicate spec: Duplicate value',
    ],
    ['the field it names', { message: 'no', fieldPath: '.max' }, 'spec.max: Invalid value: no'],
  ])('complain with %s', (_name, rule, complaint) => {
    const schema = schemaWith(ruled([{ rule: 'self.min <= self.max', ...rule }]));
    expect(complaintsOf(schema, { spec: { min: 3, max: 2 } })).toEqual([complaint]);
  });

  it('say what failed when they cannot be worked out', () => {
    const schema = schemaWith(ruled([{ rule: 'self.min <= self.max' }, { rule: 'self.size + 1 > 1' }]));
    expect(complaintsOf(schema, { spec: { min: 1, size: '5%' } })).toEqual([
      'spec: Invalid value: "object": no such key: max evaluating rule: self.min <= self.max',
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.size + 1 > 1`,
    ]);
  });

  it('reach names that need escapes, the type of the root and its name', () => {
    const schema: StructuralSchema = {
      ...schemaWith(ruled([{ rule: 'self.__namespace__ == "n" && self.dashed__dash__name == "d"' }])),
      'x-kubernetes-validations': [{ rule: 'self.kind == "Thing" && self.metadata.name.startsWith("a")' }],
    };
    const object = { kind: 'Thing', metadata: { name: 'a1' }, spec: { namespace: 'n', 'dashed-name': 'd' } };
    expect(problemsOf(schema)).toEqual([]);
    expect(complaintsOf(schema, object)).toEqual([]);
  });

  it('wait, for transitions, for a value of before, unless they take its absence', () => {
    const fixed = schemaWith(ruled([{ rule: 'self.min == oldSelf.min', message: 'fixed' }]));
    expect(complaintsOf(fixed, { spec: { min: 1 } })).toEqual([]);
    expect(complaintsOf(fixed, { spec: { min: 1 } }, { spec: { min: 2 } })).toHaveLength(1);
    const rule = 'oldSelf.hasValue() || self.min == 0';
    const begun = schemaWith(ruled([{ rule, optionalOldSelf: true, message: 'begin with 0' }]));
    expect(complaintsOf(begun, { spec: { min: 1 } })).toHaveLength(1);
    expect(complaintsOf(begun, { spec: { min: 1 } }, { spec: { min: 0 } })).toEqual([]);
  });

  it('find the item of before in a list that is a map, wherever it stood', () => {
    const items = ruled([{ rule: 'self.min >= oldSelf.min', message: 'shrunk' }], {
      required: ['namespace'],
    });
    const schema = schemaWith({
      type: 'object',
      properties: {
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['namespace'],
          items,
        },
      },
    });
    const old = {
      spec: {
        list: [
          { namespace: 'a', min: 1 },
          { namespace: 'b', min: 5 },
        ],
      },
    };
    const now = {
      spec: {
        list: [
          { namespace: 'b', min: 4 },
          { namespace: 'a', min: 1 },
        ],
      },
    };
    expect(problemsOf(schema)).toEqual([]);
    expect(complaintsOf(schema, now, old)).toEqual(['spec.list[0]: Invalid value: shrunk']);
  });

  it('let stay what broke them before and was not touched', () => {
    const schema = schemaWith(ruled([{ rule: 'self.min <= self.max' }]));
    const broken = { spec: { min: 3, max: 2 } };
    expect(complaintsOf(schema, broken, broken)).toEqual([]);
    expect(complaintsOf(schema, { spec: { min: 4, max: 2 } }, broken)).toHaveLength(1);
  });

  it('end when an object would cost too much', () => {
    const list = { type: 'array', items: { type: 'integer' } } as const;
    const rule = 'self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))';
    const schema = schemaWith({
      type: 'object',
      properties: { list },
      'x-kubernetes-validations': [{ rule }, { rule }],
    });
    const object = { spec: { list: Array.from({ length: 1000 }, (_, index) => index) } };
    expect(complaintsOf(schema, object)).toEqual([
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
    ]);
  });
});

describe('rules that cannot be meant', () => {
  it.each<[string, ValidationRule, string]>([
    ['nothing', { rule: ' ' }, 'rule: Required value: rule is not specified'],
    [
      'an unknown field',
      { rule: 'self.nope > 1' },
      "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^",
    ],
    [
      'another type',
      { rule: 'self.min == "a"' },
      "found no matching overload for '_==_' applied to '(int, string)'",
    ],
    ['no answer', { rule: 'self.min + 1' }, 'cel expression must evaluate to a bool'],
    [
      'a message that is no text',
      { rule: 'true', messageExpression: 'self.min' },
      'messageExpression must evaluate to a string',
    ],
    ['two lines', { rule: 'true &&\ntrue' }, 'message must be specified if rule contains line breaks'],
    ['a field that is not there', { rule: 'true', fieldPath: '.nope' }, 'must be a valid path'],
    [
      'an option in vain',
      { rule: 'true', optionalOldSelf: true },
      'may not be set if oldSelf is not used in rule',
    ],
    ['an unknown reason', { rule: 'true', reason: 'No' }, 'Unsupported value: "No"'],
  ])('refuse their definition: %s', (_name, rule, problem) => {
    const found = problemsOf(schemaWith(ruled([rule])));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('schema.properties[spec].x-kubernetes-validations[0]');
    expect(found[0]).toContain(problem);
  });

  it('cannot ask for the old value of an item that cannot be told apart', () => {
    const items = ruled([{ rule: 'self == oldSelf' }]);
    const found = problemsOf(schemaWith({ type: 'array', items }));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(
      'oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[spec]',
    );
  });
});
