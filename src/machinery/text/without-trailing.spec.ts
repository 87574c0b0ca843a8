import { expect, it } from 'vitest';
import { withoutTrailing } from './without-trailing.js';

it.each([
  ['a//', '/', 'a'],
  ['a/b', '/', 'a/b'],
  ['name-.-', '-.', 'name'],
  ['///', '/', ''],
  ['', '/', ''],
])('withoutTrailing(%j, %j) is %j', (text, characters, expected) => {
  expect(withoutTrailing(text, characters)).toBe(expected);
});
