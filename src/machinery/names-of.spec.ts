import { expect, it } from 'vitest';
import { namesOf } from './names-of.js';

it('names the fields of a record in their order', () => {
  const names: readonly ('b' | 'a')[] = namesOf({ b: 1, a: 2 });
  expect(names).toEqual(['b', 'a']);
});
