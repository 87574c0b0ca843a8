import { expect, it } from 'vitest';
import { formatWarnings } from './custom-resource-definition.kind.js';

type Spec = Parameters<typeof formatWarnings>[0];

function aSpec(openAPIV3Schema: object): Spec {
  return { versions: [{ name: 'v1', schema: { openAPIV3Schema } }] };
}

it.each([
  [{ type: 'string', format: 'date-time' }, []],
  [{ type: 'string', format: 'k8s-short-name' }, []],
  [{ format: 'uuid' }, []],
  [{ type: 'integer', format: 'int64' }, []],
  [{ type: 'number', format: 'double' }, []],
  [{ type: 'string', format: 'int32' }, ['unrecognized format "int32"']],
  [{ type: 'boolean', format: 'byte' }, ['unrecognized format "byte"']],
  [{ type: 'object', properties: { a: { type: 'array', items: { type: 'string', format: 'x' } } } }, ['unrecognized format "x"']],
  [{ additionalProperties: { anyOf: [{ format: 'y"' }, { not: { format: 'constructor' } }] } }, ['unrecognized format "y\\""', 'unrecognized format "constructor"']],
  [{ additionalProperties: true, items: [{ format: 'z' }] }, ['unrecognized format "z"']],
])('warns of formats that judge nothing, wherever they are: %j', (schema, warnings) => {
  expect(formatWarnings(aSpec(schema), undefined)).toEqual(warnings);
}); // prettier-ignore

it('does not warn of one that was there before', () => {
  const spec = aSpec({ properties: { a: { format: 'old' }, b: { format: 'new' } } });
  expect(formatWarnings(spec, aSpec({ format: 'old' }))).toEqual(['unrecognized format "new"']);
});
