import { describe, expect, it } from 'vitest';
import { STEERED_BY, steeredByOf } from './steered-by.js';

const noted = (rules: readonly unknown[]) =>
  steeredByOf({ [STEERED_BY]: JSON.stringify({ web: { stable: 'a', canary: 'b', rules } }) })[0]?.rules;

describe('the note on a route', () => {
  it('names each rule once, so that no weight is written twice', () => {
    expect(noted(['one', 'two', 'one', 7])).toEqual(['one', 'two']);
  });

  it('names no more rules than a route may have, however long it is: each costs a look at all rules', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `rule-${index}`);
    expect(noted(many)).toHaveLength(16);
  });
});
