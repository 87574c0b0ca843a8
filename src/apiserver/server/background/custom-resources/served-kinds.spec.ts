import { describe, expect, it } from 'vitest';
import { createKindRegistry } from '../../../kinds/index.js';
import type { Definition } from '../../../kinds/index.js';
import { createSchemaRegistry } from '../../../schema/index.js';
import { ServedKinds } from './served-kinds.js';

const NAME = 'things.example.com';

function aDefinition(
  revision: number,
  change: { generation?: number; established?: boolean; uid?: string } = {},
) {
  const { generation = 1, established = true, uid = 'u' } = change;
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME, uid, generation, resourceVersion: String(revision) },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
    status: {
      acceptedNames: names,
      conditions: [{ type: 'Established', status: established ? 'True' : 'False' }],
      storedVersions: ['v1'],
    },
  } as unknown as Definition;
}

function aServer() {
  const kinds = createKindRegistry();
  const schemas = createSchemaRegistry();
  const served = new ServedKinds(kinds, schemas);
  return { kinds, schemas, served, find: () => kinds.find('example.com', 'v1', 'things') };
}

describe('the kinds that come from definitions', () => {
  it('are there from when on their definition is established', () => {
    const { served, find } = aServer();
    served.put(aDefinition(1, { established: false }));
    expect(find()).toBeUndefined();
    served.put(aDefinition(2));
    expect(find()?.type.kind).toBe('Thing');
  });

  it('change when their definition does, and only then', () => {
    const { served, find } = aServer();
    served.put(aDefinition(1));
    const first = find();
    served.put(aDefinition(2));
    expect(find()).toBe(first);
    served.put(aDefinition(3, { generation: 2 }));
    expect(find()).not.toBe(first);
  });

  it('are none of a group of built-in kinds, whatever the status says', () => {
    const { kinds, served } = aServer();
    const before = kinds.kinds.length;
    const definition = aDefinition(1);
    definition.metadata.name = 'networkpolicies.networking.k8s.io';
    definition.spec.group = 'networking.k8s.io';
    definition.spec.names.plural = 'networkpolicies';
    definition.spec.versions[0]!.name = 'v9';
    definition.status!.acceptedNames = definition.spec.names;
    served.put(definition);
    expect(kinds.kinds).toHaveLength(before);
    served.remove(definition.metadata.name);
    expect(kinds.find('networking.k8s.io', 'v1', 'networkpolicies')).toBeDefined();
  });

  describe('served by two definitions, as a status says that was written by hand or that two servers decided on at once', () => {
    const rival = (created: string, plural = 'aliens'): Definition => {
      const definition = aDefinition(1, { uid: 'v' });
      const names = { ...definition.spec.names, plural };
      return {
        ...definition,
        metadata: { ...definition.metadata, name: `${plural}.example.com`, creationTimestamp: created },
        spec: { ...definition.spec, names },
        status: { ...definition.status!, acceptedNames: names },
      };
    };
    const own = rival('2026-01-01T00:00:00Z', 'things');
    const late = rival('2026-01-02T00:00:00Z');

    it.each([
      ['comes first', [own, late]],
      ['comes last, as after a restart', [late, own]],
    ])('are those of the older one, which %s, and keep their schema', (_when, order) => {
      const { kinds, schemas, served, find } = aServer();
      for (const definition of order) served.put(definition);
      const { schema } = find()!;
      const mine = schemas.get(schema);
      expect(mine).toBeDefined();
      expect(kinds.find('example.com', 'v1', 'aliens')).toBeUndefined();
      expect(kinds.findByKind('example.com/v1', 'Thing')).toBe(find());
      served.put(rival('2026-01-02T00:00:00Z'));
      served.remove(late.metadata.name);
      expect(schemas.get(schema)).toBe(mine);
      expect(kinds.findByKind('example.com/v1', 'Thing')).toBe(find());
    });

    it('are those of the older one also where only the status of the newer one has the kind', () => {
      const { kinds, schemas, served, find } = aServer();
      const forged = { ...late, spec: { ...late.spec, names: { ...late.spec.names, kind: 'Alien' } } };
      for (const definition of [own, forged]) served.put(definition);
      served.remove(forged.metadata.name);
      expect(schemas.get(find()!.schema)).toBeDefined();
      expect(kinds.findByKind('example.com/v1', 'Thing')).toBe(find());
    });

    it('become those of the other one when the older one is gone', () => {
      const { kinds, served } = aServer();
      for (const definition of [own, late]) served.put(definition);
      served.remove(own.metadata.name);
      expect(served.waitingIn('example.com')).toEqual([late.metadata.name]);
      served.put(late);
      expect(kinds.findByKind('example.com/v1', 'Thing')?.type.resource).toBe('aliens');
    });
  });

  it('are none of a definition that is named like another one', () => {
    const { served, find } = aServer();
    const definition = aDefinition(1);
    definition.metadata.name = 'others.example.com';
    served.put(definition);
    expect(find()).toBeUndefined();
  });

  it('have the resource that their definition is named by, whatever the status says', () => {
    const { kinds, served, find } = aServer();
    const definition = aDefinition(1);
    definition.status!.acceptedNames = { ...definition.spec.names, plural: 'others' };
    served.put(definition);
    expect(find()).toBeDefined();
    expect(kinds.find('example.com', 'v1', 'others')).toBeUndefined();
  });

  it('go with their definition, and come with another one of the name', () => {
    const { served, find } = aServer();
    served.put(aDefinition(1));
    expect(served.remove(NAME)).toBe('example.com');
    expect(find()).toBeUndefined();
    served.put(aDefinition(6, { uid: 'other' }));
    expect(find()).toBeDefined();
  });

  it('never take the place of what the server itself has', () => {
    const { served, kinds } = aServer();
    const leases = kinds.find('coordination.k8s.io', 'v1', 'leases');
    const definition = aDefinition(1);
    definition.spec.group = 'coordination.k8s.io';
    definition.spec.names = { ...definition.spec.names, plural: 'leases', kind: 'Lease' };
    definition.status!.acceptedNames = definition.spec.names;
    served.put(definition);
    expect(kinds.find('coordination.k8s.io', 'v1', 'leases')).toBe(leases);
  });
});
