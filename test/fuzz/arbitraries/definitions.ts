import fc from 'fast-check';
import type { HostileRequest } from '../fuzzed-server.js';
import { APPLY_PATCH, JSON_TYPE, MERGE_PATCH, NAMESPACE, nested } from '../seeds/index.js';
import { mutated } from './objects.js';
import { jsonTexts } from './texts.js';
import { hostileScalar, hostileValue, objectOf } from './values.js';

const GROUP = 'fuzz.example.com';
const PLURALS = ['gadgets', 'gizmos', 'widgets'] as const;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
/** Whose writes are applied takes what others own. */
const FORCED = 'fieldManager=fuzz&force=true';

/** Definitions of kinds, what they define, and policies about it: their schemas, rules, patterns and paths are programs of others. */
export const definitionRequests: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PLURALS).chain(writtenDefinition) },
  { weight: 6, arbitrary: fc.constantFrom(...PLURALS).chain(writtenObject) },
  { weight: 2, arbitrary: fc.constantFrom('fuzz-1', 'fuzz-2').chain(writtenPolicy) },
  { weight: 1, arbitrary: fc.constantFrom('fuzz-1', 'fuzz-2').map(aBinding) },
  { weight: 1, arbitrary: fc.constantFrom(...PLURALS).chain(read) },
);

const ATOMS = [
  ...[
    'self',
    'self.a',
    'self.n',
    'self.list',
    'self.map',
    'self.?a',
    'oldSelf',
    'oldSelf.n',
    'object',
    'object.spec.a',
  ],
  ...[
    'oldObject',
    'request',
    'params',
    'variables.x',
    'authorizer',
    'x',
    'type(self)',
    'optional.none()',
    'null',
  ],
  ...[
    '1',
    '-9223372036854775808',
    '9223372036854775808',
    '1u',
    '0.5',
    '1e400',
    'true',
    "'x'",
    "''",
    "b'\\xff'",
  ],
  ...[
    "'\\u0000'",
    '"""x"""',
    '[]',
    '[1, 2]',
    "{'a': 1}",
    '{}',
    "duration('1h')",
    "timestamp('2020-01-01T00:00:00Z')",
  ],
  ...[
    "quantity('1Gi')",
    "quantity('x')",
    "url('http://x:99999')",
    "ip('::1')",
    "cidr('1.1.1.1/33')",
    "semver('1.2.3')",
  ],
] as const;
const OPERATORS = ['+', '-', '*', '/', '%', '==', '!=', '<', '>=', 'in', '&&', '||'] as const;
const MACROS = ['all', 'exists', 'exists_one', 'map', 'filter', 'sortBy', 'transformMap'] as const;
const CALLS = [
  ...[
    'size()',
    "matches('(a+)+$')",
    "matches('[')",
    "contains('a')",
    "split(',')",
    "replace('', 'aa')",
    'join()',
  ],
  ...[
    'sum()',
    'isSorted()',
    "find('(.*)*')",
    'substring(0, 2147483648)',
    'getHours()',
    'orValue(1)',
    'charAt(-1)',
  ],
  ...["format(['x', 1])", 'reverse()', 'lowerAscii()', 'flatten()', 'allowed()', 'nothing()'],
] as const;
const FUNCTIONS = [
  'size',
  'string',
  'int',
  'uint',
  'double',
  'bytes',
  'dyn',
  'has',
  'type',
  'isURL',
  'nothing',
] as const;

const expression = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: false },
    fc.constantFrom(...ATOMS),
    fc
      .tuple(tie('value'), fc.constantFrom(...OPERATORS), tie('value'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('value'), fc.constantFrom(...MACROS), tie('value'))
      .map(([list, macro, body]) => `${list}.${macro}(x, ${body})`),
    fc.tuple(tie('value'), fc.constantFrom(...CALLS)).map(([of, call]) => `${of}.${call}`),
    fc.tuple(fc.constantFrom(...FUNCTIONS), tie('value')).map(([name, of]) => `${name}(${of})`),
    fc.tuple(tie('value'), tie('value'), tie('value')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.tuple(tie('value'), tie('value')).map(([of, index]) => `${of}[${index}]`),
  ),
})).value;

/** Conditions that are well typed, of the spec of the objects below; what they make of a value is another matter. */
function conditions(spec: string, old: string): fc.Arbitrary<string> {
  const simple = fc.constantFrom(
    ...[
      `size(${spec}.a) < 5`,
      `${spec}.a.matches('^(a+)+$')`,
      `${spec}.a.split('').map(c, c + c).join() != ''`,
    ],
    ...[
      `${spec}.list.all(x, x.size() < 3)`,
      `${spec}.list.exists_one(x, x == ${spec}.a)`,
      `${spec}.list[9] == 'a'`,
    ],
    ...[
      `${spec}.map.all(k, ${spec}.map[k] > 0)`,
      `${spec}.map['constructor'] == 2`,
      `!has(${spec}.n) || ${spec}.n >= 0`,
    ],
    ...[
      `10 / ${spec}.n > 1`,
      `${spec}.n * 9223372036854775807 > 0`,
      `int(${spec}.a) > 1`,
      `dyn(${spec}.a) > 1`,
    ],
    ...[`duration(${spec}.a) > duration('1h')`, `quantity(${spec}.a).isGreaterThan(quantity('1Gi'))`],
    ...[
      `${old}.n <= ${spec}.n`,
      `${old}.list.all(x, x in ${spec}.list)`,
      `${spec} == ${old}`,
      'true',
      'false',
    ],
  );
  return fc.oneof(
    simple,
    fc
      .tuple(simple, fc.constantFrom('&&', '||', '==', '!='), simple)
      .map(([a, by, b]) => `(${a}) ${by} (${b})`),
    fc.tuple(simple, simple, simple).map(([a, b, c]) => `(${a}) ? (${b}) : !(${c})`),
  );
}

/** Mostly what could be a rule; seldom what is too long, too deep, or no text. */
const anyRule: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: expression },
  { weight: 2, arbitrary: expression.map((text) => text.slice(0, text.length / 2)) },
  { weight: 1, arbitrary: fc.nat(2000).map((depth) => nested(depth, ['(', 'true', ')'])) },
  { weight: 1, arbitrary: fc.nat(5000).map((count) => `${'1 + '.repeat(count)}1 == 1`) },
  {
    weight: 1,
    arbitrary: fc.nat(4).map((depth) => 'self.list.all(x, '.repeat(depth) + 'true' + ')'.repeat(depth)),
  },
  { weight: 2, arbitrary: hostileScalar },
);

const rule = fc.oneof(
  { weight: 12, arbitrary: conditions('self', 'oldSelf') },
  { weight: 1, arbitrary: anyRule },
);
const policyRule = fc.oneof(
  { weight: 12, arbitrary: conditions('object.spec', 'oldObject.spec') },
  { weight: 1, arbitrary: anyRule },
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

/** Of the spec of the objects below, so that its rules are asked. */
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

const policyMessage = mostly<unknown>(
  fc.constantFrom("'a ' + object.spec.a", 'string(object.spec.n)'),
  anyRule,
);

function writtenPolicy(name: string): fc.Arbitrary<HostileRequest> {
  const body = fc
    .record(
      {
        validations: fc.array(
          fc.record(
            { expression: policyRule, messageExpression: policyMessage, message: fc.constant('no') },
            { requiredKeys: ['expression'] },
          ),
          { minLength: 1, maxLength: 3 },
        ),
        variables: fc.array(
          fc.record({ name: mostly(fc.constantFrom('x', 'y'), fc.constant('')), expression: policyRule }),
          {
            maxLength: 2,
          },
        ),
        matchConditions: fc.array(
          fc.record({ name: mostly(fc.constant('x'), fc.constant('')), expression: policyRule }),
          {
            maxLength: 1,
          },
        ),
        auditAnnotations: fc.array(
          fc.record({ key: mostly(fc.constant('x'), fc.constant('')), valueExpression: policyMessage }),
          {
            maxLength: 1,
          },
        ),
        failurePolicy: mostly(fc.constantFrom('Fail', 'Ignore'), fc.constant('x')),
      },
      { requiredKeys: ['validations'] },
    )
    .map((spec) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        // Of nothing else, or there would be nothing else to attack.
        matchConstraints: {
          resourceRules: [
            { apiGroups: [GROUP], apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] },
          ],
        },
        ...spec,
      },
    }));
  return applied(`${POLICIES}/${name}`, body);
}

function aBinding(name: string): HostileRequest {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Warn', 'Audit'] },
  };
  const path = `${BINDINGS}/${name}?${FORCED}`;
  return { method: 'PATCH', path, headers: { 'content-type': APPLY_PATCH }, body: JSON.stringify(body) };
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

/** One of twenty is wrong: of so many parts, many would make none right. */
function mostly<T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 19, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

function mostlyRight(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: value },
    { weight: 3, arbitrary: mutated(value, { maxLength: 2 }) },
    { weight: 1, arbitrary: hostileValue },
  );
}

/** Made, or changed where it is there. */
function applied(path: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<HostileRequest> {
  return written('PATCH', `${path}?${FORCED}`, APPLY_PATCH, body);
}

function written(
  method: string,
  path: string,
  contentType: string,
  body: fc.Arbitrary<unknown>,
): fc.Arbitrary<HostileRequest> {
  return jsonTexts(body).map((text) => ({
    method,
    path,
    headers: { 'content-type': contentType },
    body: text,
  }));
}
