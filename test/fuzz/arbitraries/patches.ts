import fc from 'fast-check';
import { mutated } from './objects.js';
import { hostileKey, hostileScalar, hostileValue, objectOf } from './values.js';

const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/** JSON patches: paths into the object and beside it. */
export function jsonPatches(sample: object): fc.Arbitrary<unknown> {
  const pointers = pointersOf(sample);
  const pointer = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pointers) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...pointers),
          fc.constantFrom('0', '-', '-1', '99', '1e3', '01', '__proto__', 'x'),
        )
        .map(([path, step]) => `${path}/${step}`),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(...pointers), hostileKey).map((steps) => steps.join('/')),
    },
    {
      weight: 1,
      arbitrary: fc.oneof(hostileScalar, fc.constantFrom<unknown>('', '/', '//', 'spec', {}, [], 1)),
    },
  );
  const operation = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record(
        {
          op: fc.oneof(
            { weight: 20, arbitrary: fc.constantFrom(...OPERATIONS) },
            { weight: 1, arbitrary: hostileScalar },
          ),
          path: pointer,
          from: pointer,
          value: hostileValue,
        },
        { requiredKeys: ['op'] },
      ),
    },
    { weight: 1, arbitrary: hostileValue },
  );
  return fc.oneof(
    { weight: 12, arbitrary: fc.array(operation, { maxLength: 8 }) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(operation, fc.constantFrom(50, 500, 10_001))
        .map(([one, count]) => Array.from({ length: count }, () => one)),
    },
    { weight: 1, arbitrary: hostileValue },
  );
}

function pointersOf(value: unknown, at = '', into: string[] = ['/metadata']): string[] {
  if (typeof value !== 'object' || value === null) return into;
  for (const [name, field] of Object.entries(value)) {
    const path = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    into.push(path);
    pointersOf(field, path, into);
  }
  return into;
}

const directive = fc.tuple(
  fc.constantFrom(
    '$patch',
    '$retainKeys',
    '$setElementOrder/containers',
    '$setElementOrder/env',
    '$setElementOrder/finalizers',
    '$deleteFromPrimitiveList/finalizers',
  ),
  fc.oneof(
    fc.constantFrom<unknown>(
      'replace',
      'delete',
      'merge',
      [],
      [{ name: 'c' }],
      ['example.com/keep'],
      [null],
      {},
    ),
    hostileValue,
  ),
);

/** Merge patches and strategic ones: parts of the object, changed. */
export function mergePatches(sample: object): fc.Arbitrary<unknown> {
  const part = fc.subarray(Object.keys(sample)).map((names) => {
    const fields = sample as Record<string, unknown>;
    return objectOf(names.map((name) => [name, fields[name]]));
  });
  const directed = fc
    .tuple(mutated(part), fc.array(directive, { maxLength: 2 }))
    .map(([value, directives]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? { ...value, ...objectOf(directives), metadata: objectOf(directives) }
        : value,
    );
  return fc.oneof(
    { weight: 6, arbitrary: mutated(part) },
    { weight: 3, arbitrary: directed },
    { weight: 1, arbitrary: hostileValue },
  );
}
