import { describe, expect, it } from 'vitest';
import { deprecationOf } from './deprecated-version.js';

const old = { name: 'v1beta1', served: true, storage: false, deprecated: true };
const specWith = (...others: object[]) =>
  ({ group: 'a.example', names: { kind: 'Thing', plural: 'things' }, versions: [old, ...others] }) as never;

describe('a deprecated version', () => {
  it.each([
    ['says what its author says', { ...old, deprecationWarning: 'use v1' }, specWith(), 'use v1'],
    ['names no other where there is none', old, specWith(), 'a.example/v1beta1 Thing is deprecated'],
    [
      'names the newest that is served and not deprecated',
      old,
      specWith({ name: 'v1', served: true }, { name: 'v2', served: true }, { name: 'v3', served: false }),
      'a.example/v1beta1 Thing is deprecated; use a.example/v2 Thing',
    ],
    [
      'names no older one',
      old,
      specWith({ name: 'v1alpha1', served: true }),
      'a.example/v1beta1 Thing is deprecated',
    ],
  ])('%s', (_name, version, spec, words) => {
    expect(deprecationOf(version, spec)).toBe(words);
  });
});
