import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../../../runtime/index.js';
import { assertAccepted } from '../assert-accepted.js';
import { definitionsIn } from '../exports-of-modules.js';
import * as websites from './websites.fixture.js';
import * as wrong from './wrong.fixture.js';
import { interfaceKinds, kindsOfProgram, programOf } from './interface-kinds.js';
import { loadCompiler } from './load-compiler.js';

const file = (name: string): string => join(import.meta.dirname, `${name}.fixture.ts`);
const ts = loadCompiler(file('wrong'));
const programOfWrong = programOf(ts, file('wrong'));
const wrongKinds = (name: keyof typeof wrong) =>
  kindsOfProgram(programOfWrong, { ts, path: file('wrong'), exported: { [name]: wrong[name] } });
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('definitions of interfaces', () => {
  const kinds = interfaceKinds(file('websites'), websites);
  const [website] = kinds;
  if (!website) throw new Error('there is no kind');
  const [version] = definitionOf(website).spec.versions as unknown as {
    schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } };
  }[];

  it('are those of the exported kinds whose interface asks for it', () => {
    expect(kinds.map(({ kind, version: name }) => `${kind} ${name}`)).toEqual([
      'Website v1',
      'Website v1beta1',
    ]);
  });

  it('have columns, scale, short names, categories and rules of the comment', () => {
    expect(definitionOf(website).spec.names).toMatchObject({ shortNames: ['ws'], categories: ['all'] });
    expect(plain(version)).toMatchObject({
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      },
      additionalPrinterColumns: [
        { name: 'Host', jsonPath: '.spec.host', type: 'string' },
        {
          name: 'Is ready',
          jsonPath: '.status.ready',
          type: 'boolean',
          priority: 1,
          description: 'by its pods',
        },
      ],
      schema: {
        openAPIV3Schema: {
          description: 'A website.',
          required: ['spec'],
          'x-kubernetes-validations': [{ rule: 'self.metadata.name.size() < 50', message: 'is too long' }],
        },
      },
    });
  });

  it('have defaults, limits, descriptions and rules of the fields and of their types', () => {
    expect(plain(version?.schema.openAPIV3Schema.properties.spec)).toEqual({
      type: 'object',
      description: 'The wanted state.',
      required: ['host', 'backends'],
      'x-kubernetes-validations': [
        { rule: 'self.host == oldSelf.host', message: 'host is immutable' },
        { rule: 'self.replicas > 0', reason: 'FieldValueInvalid', fieldPath: '.replicas' },
      ],
      properties: {
        host: {
          type: 'string',
          minLength: 1,
          maxLength: 253,
          description: 'The name that it is reached by.',
        },
        replicas: { type: 'integer', format: 'int64', minimum: 0, maximum: 10, default: 2 },
        tier: { type: 'string', enum: ['free', 'paid'], default: 'free' },
        port: { 'x-kubernetes-int-or-string': true },
        weight: { type: 'number', nullable: true },
        big: { type: 'integer', format: 'int64' },
        at: { type: 'string', format: 'date-time' },
        size: { type: 'string', pattern: '^\\d+Gi$' },
        labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
        backends: {
          type: 'array',
          minItems: 1,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            description: 'One of its servers.',
            required: ['name'],
            properties: { name: { type: 'string' }, isSecure: { type: 'boolean', default: false } },
          },
        },
        extra: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    });
  });

  it('are taken by the API server', async () => {
    await assertAccepted(definitionsIn([{ kinds }]));
  });

  it('are refused with the API server’s own words where it would refuse them', async () => {
    const definitions = definitionsIn([{ kinds: wrongKinds('Refused') }]);
    await expect(assertAccepted(definitions)).rejects.toThrow(
      /^module: the API server would refuse refuseds\.example\.com: .*undefined field 'nothing'/,
    );
  });

  it.each([
    {
      name: 'Recursive',
      problem: 'spec.child.child: a structural schema cannot say that a type contains itself',
    },
    { name: 'Alternatives', problem: 'spec.a: a structural schema cannot say anyOf' },
    { name: 'Functions', problem: 'spec.run: a definition cannot say () => void' },
    { name: 'Maps', problem: 'spec.map: a definition cannot say Map<string, string>' },
    { name: 'Mistyped', problem: 'spec.a: @minimun 3 is no tag for a definition' },
    { name: 'NoNumber', problem: 'spec.a: @minimum three must have a number' },
    { name: 'Misplaced', problem: 'spec.a: @column A .spec.a is for the kind itself' },
    {
      name: 'NoColumn',
      problem: 'NoColumn: @column Host is not of the form: @column Host .spec.host string',
    },
    { name: 'Unruly', problem: 'spec.a: @message no rule must come after a @rule' },
  ] as const)('name the field that no definition can say: $name', ({ name, problem }) => {
    expect(() => wrongKinds(name)).toThrow(problem);
  });

  it('are not looked for in JavaScript, and not without a kind', () => {
    expect(interfaceKinds('kinds.js', websites)).toEqual([]);
    expect(interfaceKinds(file('websites'), {})).toEqual([]);
  });
});
