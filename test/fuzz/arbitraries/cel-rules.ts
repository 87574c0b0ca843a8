import fc from 'fast-check';
import { nested } from '../seeds/index.js';
import { hostileScalar } from './values.js';

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
export const anyRule: fc.Arbitrary<unknown> = fc.oneof(
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

/** A rule of a schema. */
export const rule = fc.oneof(
  { weight: 12, arbitrary: conditions('self', 'oldSelf') },
  { weight: 1, arbitrary: anyRule },
);
/** An expression of a policy about the objects of the definitions. */
export const policyRule = fc.oneof(
  { weight: 12, arbitrary: conditions('object.spec', 'oldObject.spec') },
  { weight: 1, arbitrary: anyRule },
);
