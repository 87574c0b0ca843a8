import { describe, expect, it } from 'vitest';
import { dropNulls } from './drop-nulls.js';

const read = (value: unknown): unknown => {
  const text = JSON.stringify(value);
  return dropNulls(JSON.parse(text), text);
};

describe('nulls in an object', () => {
  it('is as if it were not there, where the program reads', () => {
    expect(
      read({
        kind: 'Deployment',
        status: null,
        metadata: { name: 'x', deletionTimestamp: null, labels: null, finalizers: null },
        spec: { replicas: null, paused: false, template: { metadata: { creationTimestamp: null } } },
      }),
    ).toEqual({
      kind: 'Deployment',
      metadata: { name: 'x' },
      // Templates are sent back unchanged, so they are not touched.
      spec: { paused: false, template: { metadata: { creationTimestamp: null } } },
    });
  });

  it('is so in every item of a list', () => {
    const item = { metadata: { name: 'x', annotations: null }, status: { conditions: null } };
    expect(read({ metadata: { continue: null }, items: [item, null] })).toEqual({
      metadata: {},
      items: [{ metadata: { name: 'x' }, status: {} }, null],
    });
    expect(read({ items: null })).toEqual({});
  });

  it.each([
    { apiVersion: 'v1', stays: false },
    { apiVersion: 'apps/v1', stays: false },
    { apiVersion: 'coordination.k8s.io/v1', stays: false },
    { apiVersion: 'shops.example/v1', stays: true },
  ])(
    'stays in the spec of a custom resource, where it may mean something: $apiVersion',
    ({ apiVersion, stays }) => {
      expect(read({ apiVersion, metadata: { labels: null }, spec: { size: null } })).toEqual({
        apiVersion,
        metadata: {},
        spec: stays ? { size: null } : {},
      });
    },
  );

  it('is not looked for where the text has none', () => {
    const body = Object.freeze({ metadata: Object.freeze({ name: 'x' }) });
    expect(dropNulls(body, '{"metadata":{"name":"x"}}')).toBe(body);
  });
});
