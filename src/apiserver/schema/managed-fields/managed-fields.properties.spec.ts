import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathsOf } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { pathText } from './fields-v1.js';
import { readOwners, writeOwners } from './managers.js';
import type { Owners } from './managers.js';
import { mergeConfig } from './merge.js';
import { applied, apply, shape, show } from './thing.fixture.js';

const isFilled = (value: object): boolean => Object.keys(value).length > 0;

const config = fc.record(
  {
    metadata: fc
      .record(
        {
          labels: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { minKeys: 1 }),
          finalizers: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }),
        },
        { requiredKeys: [] },
      )
      .filter(isFilled),
    spec: fc
      .record(
        {
          replicas: fc.nat(3),
          selector: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { minKeys: 1 }),
          items: fc.uniqueArray(
            fc.record(
              {
                name: fc.constantFrom('a', 'b', 'c'),
                image: fc.constantFrom('i', 'j'),
                args: fc.array(fc.constantFrom('p', 'q'), { minLength: 1, maxLength: 2 }),
              },
              { requiredKeys: ['name'] },
            ),
            { selector: ({ name }) => name, minLength: 1 },
          ),
        },
        { requiredKeys: [] },
      )
      .filter(isFilled),
  },
  { requiredKeys: [] },
);

describe('whatever is applied', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('me', 'you', 'they'), config), {
    minLength: 1,
    maxLength: 6,
  });

  it('applying the same again changes nothing', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const once = applied(...given);
        const [name, last] = given.at(-1)!;
        const again = apply(once.object, last, once.owners, name);
        expect(again.object).toEqual(once.object);
        expect(writeOwners(again.owners)).toEqual(writeOwners(once.owners));
        expect(again.conflicts).toEqual([]);
      }),
    );
  });

  it('applying nothing by everybody leaves no owner and none of the fields', () => {
    fc.assert(
      fc.property(steps, (given) => {
        let state: { object: unknown; owners: Owners } = applied(...given);
        for (const name of ['me', 'you', 'they']) state = apply(state.object, {}, state.owners, name);
        expect([...state.owners]).toEqual([]);
        expect(pathsOf(fieldsOf(state.object ?? {}, shape)).filter((path) => path.length > 1)).toEqual([]);
      }),
    );
  });

  it('the applier owns exactly what it says, and the object says what it says', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const state = applied(...given);
        const [name, last] = given.at(-1)!;
        const owned = show(state.owners)[name] ?? [];
        expect(owned).toEqual(pathsOf(fieldsOf(last, shape)).map(pathText));
        expect(mergeConfig(state.object, last, shape)).toEqual(state.object ?? last);
      }),
    );
  });

  it('ownership survives being written down', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const { owners } = applied(...given);
        expect(
          writeOwners(readOwners(JSON.parse(JSON.stringify(writeOwners(owners))) as unknown[])!),
        ).toEqual(writeOwners(owners));
      }),
    );
  });
});
