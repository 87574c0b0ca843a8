import type { Growing } from './steep-fields.js';
import { GROWING } from './write.js';

const GROUP = 'growth.example.org';
const TYPE = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const TEXT = { type: 'string' };

type Part = (length: number) => { readonly spec?: object; readonly schema?: object };

/** Parts of a definition of which each is looked up in another. Lengths are those that one request can hold. */
const PARTS: Readonly<Record<string, Part>> = {
  'properties that are required': (length) => {
    const names = namesOf(4 * length);
    const rules = [{ rule: 'has(self.x1)' }];
    const properties = Object.fromEntries(names.map((name) => [name, TEXT]));
    return { schema: { properties, required: names, 'x-kubernetes-validations': rules } };
  },
  'keys of a list': (length) => {
    const names = namesOf(2 * length);
    const properties = Object.fromEntries(names.map((name) => [name, TEXT]));
    const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': names };
    const items = { type: 'object', properties, required: names };
    return { schema: { properties: { list: { type: 'array', items, ...keys } } } };
  },
  'versions of reviews': (length) => ({
    spec: {
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: 'https://example.org' },
          conversionReviewVersions: ['v1', ...namesOf(8 * length)],
        },
      },
    },
  }),
};

/** Fields of definitions, which no one field of their type makes long. */
export function definitionFields(): Growing[] {
  return Object.entries(PARTS).map(([name, make]) => ({
    name: `CustomResourceDefinition with ${name}`,
    type: TYPE,
    sort: 'list',
    make: (length) => definition(make(length)),
  }));
}

function definition({ schema, spec }: ReturnType<Part>): object {
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', ...schema } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${GROWING}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: GROWING, singular: 'grown', kind: 'Grown', listKind: 'GrownList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      ...spec,
    },
  };
}

function namesOf(length: number): string[] {
  return Array.from({ length }, (_, index) => `x${index}`);
}
