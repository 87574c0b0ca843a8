import { expect, it } from 'vitest';
import { coerce } from './coerce.js';
import { fieldDecoder } from './field-decoder.js';
import type { FieldDecoder } from './field-decoder.js';
import { createSchemaRegistry } from './schema-registry.js';

it('a document with many values of a wrong type costs one message, which is about the first of them', () => {
  const spec = fieldDecoder(createSchemaRegistry(), 'io.k8s.api.core.v1.NamespaceSpec');
  const finalizers = spec.properties.get('finalizers')!;
  let messages = 0;
  // The name of the type is only read for a message.
  const item = new Proxy(finalizers.items!, {
    get(target, name: keyof FieldDecoder) {
      if (name === 'goType') messages++;
      return Reflect.get(target, name) as unknown;
    },
  });
  const decoder = {
    ...spec,
    properties: new Map([['finalizers', { ...finalizers, items: item }]]),
  } satisfies FieldDecoder;
  const read = (): unknown =>
    coerce({ finalizers: [true, ...Array.from({ length: 1000 }, () => 1)] }, decoder);
  expect(read).toThrow('json: cannot unmarshal bool into Go struct field NamespaceSpec.finalizers of type ');
  expect(messages).toBe(1);
});
