import { describe, expect, it } from 'vitest';
import { createKindRegistry, customKindsOf } from '../../kinds/index.js';
import type { Definition, KindDefinition } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { openApiV3 } from './openapi-v3.js';
import { openApiSchemas } from './schemas.js';
import { servedDocuments } from './served-documents.js';
import { pathsOfKind, withArticle } from './kind-paths.js';
import { sharedParameters } from './shared-parameters.js';

// Another test compares the paths of the built-in kinds with the recorded surface of a genuine server.

function aCustomKind(): KindDefinition {
  const [made] = customKindsOf({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.my-app.example.com' },
    spec: {
      group: 'my-app.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' },
          },
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  } as unknown as Definition);
  return made!.kind;
}

describe('the operations of a kind that users define', () => {
  const paths = pathsOfKind(aCustomKind());
  const operations = paths.flatMap((path) => path.operations);

  it('are named by its group, version and kind', () => {
    expect(operations.map(({ operationId }) => operationId)).toEqual([
      'listMyAppExampleComV1alpha1ThingForAllNamespaces',
      'listMyAppExampleComV1alpha1NamespacedThing',
      'createMyAppExampleComV1alpha1NamespacedThing',
      'deleteMyAppExampleComV1alpha1CollectionNamespacedThing',
      'readMyAppExampleComV1alpha1NamespacedThing',
      'replaceMyAppExampleComV1alpha1NamespacedThing',
      'patchMyAppExampleComV1alpha1NamespacedThing',
      'deleteMyAppExampleComV1alpha1NamespacedThing',
      'readMyAppExampleComV1alpha1NamespacedThingStatus',
      'replaceMyAppExampleComV1alpha1NamespacedThingStatus',
      'patchMyAppExampleComV1alpha1NamespacedThingStatus',
      'readMyAppExampleComV1alpha1NamespacedThingScale',
      'replaceMyAppExampleComV1alpha1NamespacedThingScale',
      'patchMyAppExampleComV1alpha1NamespacedThingScale',
    ]);
  });

  it('take no protobuf and no strategic merges, and are about the kind, scale included', () => {
    for (const { consumes, gvk, method, produces } of operations) {
      expect(produces).toEqual(['application/json', 'application/yaml']);
      if (method === 'patch') expect(consumes).not.toContain('application/strategic-merge-patch+json');
      expect(gvk).toEqual({ group: 'my-app.example.com', version: 'v1alpha1', kind: 'Thing' });
    }
  });

  it('share what they have in common with their path', () => {
    const [, collection] = paths;
    expect(collection!.parameters.map(({ name }) => name)).toEqual(['namespace', 'pretty']);
    for (const { parameters } of collection!.operations)
      expect(parameters.map(({ name }) => name)).not.toContain('pretty');
  });
});

it('a noun has the article that is spoken', () => {
  expect(['Pod', 'Ingress', 'Endpoints', 'Event'].map(withArticle)).toEqual([
    'a Pod',
    'an Ingress',
    'Endpoints',
    'an Event',
  ]);
});

it('shared parameters have the names that a genuine server hashes', () => {
  const names = Object.keys(sharedParameters());
  expect(names).toContain('watch-XNNPZGbK');
  expect(names).toContain('gracePeriodSeconds--K5HaBOS');
  expect(names).toContain('body-2Y1dVQaQ');
  expect(names.some((name) => /^(?:name|dryRun|fieldValidation)-/.test(name))).toBe(false);
});

interface Made {
  readonly components: { readonly schemas?: Readonly<Record<string, unknown>> };
}

it('every document of version 3 has the schemas that it refers to, and nothing beside a reference', () => {
  const kinds = createKindRegistry();
  const schemas = openApiSchemas(kinds, createSchemaRegistry(), 3);
  for (const document of servedDocuments(kinds)) {
    const made = JSON.parse(openApiV3(document.paths(), schemas)) as Made;
    const known = made.components.schemas ?? {};
    const references: string[] = [];
    JSON.stringify(made, (key, value: unknown) => {
      if (typeof value !== 'object' || value === null || key === 'properties') return value;
      const { $ref } = value as { $ref?: unknown };
      if (typeof $ref !== 'string') return value;
      expect(Object.keys(value), document.path).toEqual(['$ref']);
      references.push($ref.replace('#/components/schemas/', ''));
      return value;
    });
    expect(
      references.filter((name) => !Object.hasOwn(known, name)),
      document.path,
    ).toEqual([]);
  }
});
