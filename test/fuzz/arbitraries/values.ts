import fc from 'fast-check';
import { setField } from '../../../src/machinery/kubernetes/index.js';

/** Names of fields that a programmer may have forgotten. */
const KEYS = [
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'toJSON', 'length'],
  ...[
    '',
    '.',
    '/',
    'a/b',
    '~',
    '~0',
    '~1',
    '*',
    '-',
    '0',
    '-1',
    '99999999999',
    ' ',
    '\u0000',
    '\n',
    '\u007f',
  ],
  ...[
    '$patch',
    '$retainKeys',
    '$setElementOrder/containers',
    '$setElementOrder/env',
    '$deleteFromPrimitiveList/finalizers',
  ],
  ...[
    'metadata',
    'spec',
    'status',
    'name',
    'namespace',
    'labels',
    'annotations',
    'finalizers',
    'managedFields',
  ],
  ...['apiVersion', 'kind', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['ключ', '😀', '\ud800', 'x'.repeat(300), 'example.com/a'],
];

const SCALARS: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    1,
    -1,
    0.5,
    1e308,
    -1e308,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 53,
    2 ** 63,
    1e21,
    5e-324,
  ],
  ...[
    '',
    ' ',
    'x',
    '0',
    '-1',
    '1.5',
    'true',
    'null',
    'NaN',
    '1e400',
    '9'.repeat(400),
    '\u0000',
    '\ud800',
    '😀',
    'поле',
  ],
  ...['100m', '1Gi', '-1', '1e-40', '0x10', '1Ki1', '+.', '30%', '101%', '-5%', '%'],
  ...['2020-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0000-00-00T00:00:00Z', '2020-13-45T99:99:99Z', 'now'],
  ...['replace', 'delete', 'merge', 'Always', 'RollingUpdate', 'Recreate', 'foregroundDeletion', 'orphan'],
  ...[
    'x'.repeat(64),
    'x'.repeat(254),
    'x'.repeat(10_000),
    'a.'.repeat(5000),
    'a-'.repeat(5000),
    '-'.repeat(1000),
  ],
  ...['<script>', "'; DROP TABLE", '${x}', '{{x}}', '../../etc/passwd', '%s%n', 'a\r\nb: c'],
];

export const hostileKey = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

/** Neither list nor object. */
export const hostileScalar = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SCALARS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.integer() },
);

/** An object that may have a field of its own called `__proto__`. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, value] of entries) setField(made, name, value);
  return made;
}

const tree = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: false },
    hostileScalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(hostileKey, tie('value')), { maxLength: 4 }).map(objectOf),
  ),
})).value;

/** Something deep, or something wide. */
const extreme = fc.oneof(
  fc.tuple(fc.constantFrom(10, 100, 490, 510, 2000), fc.boolean(), hostileKey).map(([depth, isList, key]) => {
    let value: unknown = isList ? [] : {};
    for (let i = 0; i < depth; i++) value = isList ? [value] : objectOf([[key, value]]);
    return value;
  }),
  fc
    .tuple(fc.constantFrom(10, 1000, 20_000), hostileScalar)
    .map(([count, item]) => Array.from({ length: count }, () => item)),
  fc
    .tuple(fc.constantFrom(10, 1000, 10_000), hostileScalar)
    .map(([count, item]) => objectOf(Array.from({ length: count }, (_, i) => [`k${i}`, item]))),
);

/** Anything that JSON can hold. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileScalar },
  { weight: 6, arbitrary: tree },
  { weight: 1, arbitrary: extreme },
);
