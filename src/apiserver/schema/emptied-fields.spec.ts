import { describe, expect, it } from 'vitest';
import { decodeJson } from './decode-object.js';
import { asWritten, copyEmptied, hasEmptied } from './emptied-fields.js';
import { createSchemaRegistry } from './schema-registry.js';

const schemas = createSchemaRegistry();

function decoded(metadata: object): object {
  const { object } = decodeJson(JSON.stringify({ metadata }), schemas, 'io.k8s.api.core.v1.ConfigMap');
  return object.metadata;
}

describe('an empty value that its author wrote', () => {
  it('is no part of the object, and known as what it was', () => {
    const metadata = decoded({ labels: {}, finalizers: [], annotations: null });
    expect(metadata).toEqual({});
    expect(
      ['labels', 'finalizers', 'annotations', 'name'].map((field) => asWritten(metadata, field)),
    ).toEqual([{}, [], undefined, undefined]);
  });

  it('is found anywhere below a value, and in copies that know of it', () => {
    const object = { spec: [decoded({ labels: {} })] };
    const copy = structuredClone(object);
    expect([hasEmptied(object), hasEmptied(copy), hasEmptied({ spec: [decoded({})] })]).toEqual([
      true,
      false,
      false,
    ]);
    copyEmptied(object, copy);
    expect(hasEmptied(copy)).toBe(true);
  });

  it('is as it is if it has been filled since', () => {
    const metadata = decoded({ labels: {} });
    Object.assign(metadata, { labels: { a: 'b' } });
    expect(asWritten(metadata, 'labels')).toEqual({ a: 'b' });
  });
});
