import { describe, expect, it } from 'vitest';
import { identityProblem } from './stored-identity.js';

const KEY = { namespace: 'a', name: 'b' };
const REFERENCE = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
const withMetadata = (metadata: object) => ({ metadata: { name: 'b', namespace: 'a', ...metadata } });

describe('The identity of what is stored under a key', () => {
  it('is the object of that name where its metadata say so and are of the right types', () => {
    expect(identityProblem(withMetadata({}), KEY)).toBeUndefined();
    expect(identityProblem({ metadata: { name: 'b' } }, { namespace: '', name: 'b' })).toBeUndefined();
    const metadata = {
      uid: 'u',
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: null,
      labels: { a: 'b', c: null },
      annotations: {},
      finalizers: ['a/b'],
      ownerReferences: [REFERENCE],
      managedFields: [{ manager: 'm' }],
    };
    expect(identityProblem(withMetadata(metadata), KEY)).toBeUndefined();
  });

  it.each([5, null, [], {}, { metadata: null }, { metadata: [] }])(
    'is none without metadata: %j',
    (object) => {
      expect(identityProblem(object, KEY)).toBe('it has no metadata');
    },
  );

  it.each([{ name: 'c' }, { name: 5 }, { name: undefined }, { namespace: 'c' }, { namespace: undefined }])(
    'is none where its metadata name another object: %j',
    (metadata) => {
      expect(identityProblem(withMetadata(metadata), KEY)).toBe('its metadata name another object');
    },
  );

  it.each([
    ['uid', 5],
    ['creationTimestamp', 'never'],
    ['deletionTimestamp', {}],
    ['labels', { a: 5 }],
    ['labels', ['a']],
    ['annotations', 'a'],
    ['finalizers', {}],
    ['finalizers', [null]],
    ['ownerReferences', 5],
    ['ownerReferences', [null]],
    ['ownerReferences', [{ ...REFERENCE, uid: undefined }]],
    ['managedFields', [null]],
  ])('is none where metadata.%s is %j', (field, value) => {
    expect(identityProblem(withMetadata({ [field]: value }), KEY)).toBe(
      `its metadata.${field} has another type`,
    );
  });
});
