import type { Context } from '@opentelemetry/api';
import { ROOT_CONTEXT, createContextKey } from '@opentelemetry/api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_CONTEXT } from './linked-context.js';

const KEYS = ['span', 'suppressed', 'baggage'].map((name) => createContextKey(name));

type Step = (context: Context) => Context;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constantFrom(...KEYS), fc.nat()).map(
    ([key, value]): Step =>
      (context) =>
        context.setValue(key, value),
  ),
  fc.constantFrom(...KEYS).map(
    (key): Step =>
      (context) =>
        context.deleteValue(key),
  ),
);

describe('a linked context', () => {
  it('says what a context of the API says after the same steps, and every one before still does', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const values = (context: Context) => KEYS.map((key) => context.getValue(key));
        const made = (start: Context) =>
          steps.reduce((contexts, each) => [...contexts, each(contexts.at(-1) ?? start)], [start]);
        expect(made(EMPTY_CONTEXT).map(values)).toEqual(made(ROOT_CONTEXT).map(values));
      }),
      { seed: 20261121, verbose: true },
    );
  });

  it('lets go of the value that it replaces', () => {
    const [key] = KEYS;
    const deep = Array.from({ length: 100_000 }).reduce<Context>(
      (context, _, index) => context.setValue(key!, index),
      EMPTY_CONTEXT,
    );
    // A chain this long would overflow the stack.
    expect(deep.getValue(KEYS[1]!)).toBeUndefined();
    expect(deep.getValue(key!)).toBe(99_999);
  });
});
