import { expect, it } from 'vitest';
import type { DeepReadonly, Pod } from './objects.js';
import { readOnly, writableCopy } from './read-only.js';

const pod: DeepReadonly<Pod> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', finalizers: ['a'] },
  spec: { containers: [] },
};

it('a writable copy is equal and shares nothing with its original', () => {
  const copy = writableCopy<Pod>(pod);
  expect(copy).toEqual(pod);
  copy.metadata.finalizers?.push('b');
  expect(pod.metadata.finalizers).toEqual(['a']);
});

it('a read-only value is the same value', () => {
  expect(readOnly(pod)).toBe(pod);
});
