import { describe, expect, it } from 'vitest';
import { encodeObject, textAtRevision, toStoredObject } from './object-text.js';

const revision = 7;

describe('textAtRevision', () => {
  it.each([
    { name: 'in the usual order', object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } },
    { name: 'kind first', object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec: {} } },
    { name: 'metadata first', object: { metadata: { name: 'a' }, apiVersion: 'v1', kind: 'Pod' } },
    { name: 'metadata last', object: { apiVersion: 'v1', kind: 'Pod', spec: {}, metadata: { name: 'a' } } },
    { name: 'without metadata', object: { apiVersion: 'v1', kind: 'Pod', metadata: {} } },
    {
      name: 'with a version of its own',
      object: { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: '3', name: 'a' } },
    },
    {
      name: 'that quotes itself',
      object: {
        apiVersion: 'v1',
        kind: '","metadata":{"',
        metadata: { name: 'a', annotations: { b: '{"metadata":{"name":"c"}}' } },
      },
    },
  ])('says of an object $name what parsing would say', ({ object }) => {
    const stored = { revision, text: encodeObject(object as never) };
    expect(JSON.parse(textAtRevision(stored))).toEqual(toStoredObject(stored).object);
    expect(textAtRevision(stored)).toContain('"resourceVersion":"7"');
  });
});
