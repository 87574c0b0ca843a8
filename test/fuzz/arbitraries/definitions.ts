import fc from 'fast-check';
import type { HostileRequest } from '../fuzzed-server.js';
import { JSON_TYPE, MERGE_PATCH, NAMESPACE } from '../seeds/index.js';
import { anyRule, rule } from './cel-rules.js';
import { policyRequests } from './policies.js';
import { hostileScalar, objectOf } from './values.js';
import { GROUP, applied, mostly, mostlyRight, written } from './written.js';

const PLURALS = ['gadgets', 'gizmos', 'widgets'] as const;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Definitions of kinds, what they define, and policies about it: their schemas, rules, patterns and paths are programs of others. */
export const definitionRequests: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PLURALS).chain(writtenDefinition) },
  { weight: 6, arbitrary: fc.constantFrom(...PLURALS).chain(writtenObject) },
  { weight: 4, arbitrary: policyRequests },
  { weight: 1, arbitrary: fc.constantFrom(...PLURALS).chain(read) },
);

const PATTERNS = [
  '^[a-z]+$',
  '(a+)+$',
  '(a|aa)*b',
  '[',
  '\\p{L}{1000}',
  '(?=x)',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '',
];
const JSON_PATHS = [
  '.spec.a',
  '.spec.list[*]',
  '..a',
  '.spec[?(@.a=="x")]',
  '.spec.list[-1:]',
  '[',
  '.status.n',
  '',
];

const rules: fc.Arbitrary<unknown> = fc.array(
  fc.record(
    {
      rule,
      message: mostly(fc.constant('no'), fc.constantFrom('', 'a\nb')),
      messageExpression: mostly(fc.constantFrom("'a ' + self.a", 'string(self.n)'), anyRule),
      fieldPath: mostly(fc.constant('.a'), fc.constantFrom('.none', '[', '')),
      reason: mostly(fc.constantFrom('FieldValueInvalid', 'FieldValueForbidden'), fc.constant('x')),
      optionalOldSelf: fc.boolean(),
    },
    { requiredKeys: ['rule'] },
  ),
  { maxLength: 3 },
);

const bounds = fc.record(
  {
    default: fc.oneof(fc.constantFrom<unknown>('x', 1, [], {}), hostileScalar),
    nullable: fc.boolean(),
    enum: fc.array(hostileScalar, { maxLength: 3 }),
    maxLength: fc.integer({ min: -1, max: 100 }),
    maxItems: fc.integer({ min: -1, max: 100 }),
    maxProperties: fc.integer({ min: -1, max: 100 }),
    minimum: fc.double(),
    multipleOf: fc.constantFrom(0, 2, 0.1, -1),
    pattern: fc.constantFrom(...PATTERNS),
    format: fc.constantFrom('int32', 'int64', 'date-time', 'ipv4', 'byte', 'x', 'quantity'),
    'x-kubernetes-validations': rules,
    'x-kubernetes-preserve-unknown-fields': fc.boolean(),
    'x-kubernetes-int-or-string': fc.boolean(),
    'x-kubernetes-embedded-resource': fc.boolean(),
    'x-kubernetes-list-type': fc.constantFrom('map', 'set', 'atomic', 'x'),
    'x-kubernetes-list-map-keys': fc.array(fc.constantFrom('name', 'a', ''), { maxLength: 2 }),
    'x-kubernetes-map-type': fc.constantFrom('granular', 'atomic', 'x'),
  },
  { requiredKeys: [] },
);

/** Hardly any schema would be taken if all had something strange. */
function bounded(...right: readonly object[]): fc.Arbitrary<object> {
  const strange = bounds.chain((all) =>
    fc.subarray(Object.entries(all), { maxLength: 2 }).map((few) => objectOf(few) as object),
  );
  return fc.oneof(
    { weight: 25, arbitrary: fc.constantFrom({}, ...right) },
    { weight: 1, arbitrary: strange },
  );
}

/** The schema of the spec of the objects below, so that its rules are evaluated. */
const specSchema = fc
  .tuple(
    bounded(
      { default: 'x' },
      { pattern: '(a|aa)*b' },
      { format: 'ipv4' },
      { nullable: true },
      { enum: ['x', 'y'] },
    ),
    bounded({ default: 1 }, { minimum: 0 }, { multipleOf: 2 }, { format: 'int32' }),
    bounded({ default: [] }, { 'x-kubernetes-list-type': 'set' }, { minItems: 1 }, { uniqueItems: false }),
    bounded({ default: {} }, { 'x-kubernetes-map-type': 'granular' }, { minProperties: 1 }),
    rules,
  )
  .map(([a, n, list, map, validations]) => ({
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 20, ...a },
      n: { type: 'integer', ...n },
      list: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 }, ...list },
      map: { type: 'object', maxProperties: 10, additionalProperties: { type: 'integer' }, ...map },
    },
    'x-kubernetes-validations': validations,
  }));

function writtenDefinition(plural: string): fc.Arbitrary<HostileRequest> {
  const name = `${plural}.${GROUP}`;
  const body = fc
    .tuple(
      specSchema,
      mostly(fc.constantFrom('.spec.a', '.spec.list[0]', '.metadata.name'), fc.constantFrom(...JSON_PATHS)),
      mostly(fc.constantFrom('.spec.n', ''), fc.constantFrom(...JSON_PATHS)),
      fc.constantFrom({}, { 'x-kubernetes-preserve-unknown-fields': true }),
    )
    .map(([spec, column, replicas, status]) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural, kind: plural.slice(0, 1).toUpperCase() + plural.slice(1, -1) },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec, status: { type: 'object', ...status } },
              },
            },
            subresources: {
              status: {},
              ...(replicas && { scale: { specReplicasPath: replicas, statusReplicasPath: '.status.n' } }),
            },
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: column }],
          },
        ],
      },
    }));
  return applied(`${DEFINITIONS}/${name}`, mostlyRight(body));
}

function writtenObject(plural: string): fc.Arbitrary<HostileRequest> {
  const name = 'sample';
  const spec = fc.record(
    {
      a: fc.oneof(fc.constantFrom('x', 'aaaaaaaaaaaaaaaaaa!'), hostileScalar),
      n: fc.oneof(fc.nat(10), hostileScalar),
      list: fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 12 }),
      map: fc.constantFrom({}, { k: 1 }, { constructor: 2 }),
    },
    { requiredKeys: [] },
  );
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
  const body = mostlyRight(
    spec.map((of) => ({ apiVersion: `${GROUP}/v1`, kind, metadata: { name }, spec: of, status: of })),
  );
  const path = `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/${plural}`;
  return fc.oneof(
    { weight: 3, arbitrary: applied(`${path}/${name}`, body) },
    { weight: 1, arbitrary: written('POST', path, JSON_TYPE, body) },
    { weight: 1, arbitrary: written('PATCH', `${path}/${name}`, MERGE_PATCH, body) },
    { weight: 1, arbitrary: written('PATCH', `${path}/${name}/status`, MERGE_PATCH, body) },
    {
      weight: 1,
      arbitrary: written(
        'PATCH',
        `${path}/${name}/scale`,
        MERGE_PATCH,
        fc.oneof(fc.nat(5), hostileScalar).map((replicas) => ({ spec: { replicas } })),
      ),
    },
  );
}

function read(plural: string): fc.Arbitrary<HostileRequest> {
  const path = `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/${plural}`;
  return fc.constantFrom(
    { method: 'GET', path, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
    { method: 'GET', path: `${path}/sample/scale`, headers: {} },
    { method: 'GET', path: `/openapi/v3/apis/${GROUP}/v1`, headers: {} },
    { method: 'GET', path: `${path}?watch=true&timeoutSeconds=1`, headers: {} },
    { method: 'DELETE', path: `${DEFINITIONS}/${plural}.${GROUP}`, headers: {} },
  );
}
