import { describe, expect, it } from 'vitest';
import { DESCRIPTIONS } from './descriptions.js';
import { ATOMIC_MAPS, MERGE_FACTS } from './merge-facts.js';
import type { ObjectSchema } from './object-schema.js';
import { createSchemaRegistry } from './schema-registry.js';

const schemas = createSchemaRegistry();

function resolve(schema: ObjectSchema | undefined): ObjectSchema | undefined {
  return schema?.type === 'ref' ? schemas.get(schema.ref ?? '') : schema;
}

describe('the schemas', () => {
  it('lead nowhere that is not there', () => {
    const dangling: string[] = [];
    const visit = (at: string, schema: ObjectSchema): void => {
      if (schema.type === 'ref' && !schemas.get(schema.ref ?? '')) dangling.push(`${at} → ${schema.ref}`);
      if (schema.items) visit(`${at}[]`, schema.items);
      for (const [name, shape] of Object.entries(schema.properties ?? {})) visit(`${at}.${name}`, shape);
    };
    for (const name of schemas.names) visit(name, schemas.get(name) as ObjectSchema);
    expect(dangling).toEqual([]);
  });

  it.each([
    ...['core.v1.Pod', 'core.v1.PodList', 'core.v1.Namespace', 'core.v1.Node', 'core.v1.Event'],
    ...['core.v1.ServiceAccount', 'core.v1.Binding', 'apps.v1.Deployment', 'apps.v1.ReplicaSetList'],
    ...['coordination.v1.Lease', 'autoscaling.v1.Scale', 'policy.v1.Eviction'],
  ])('have io.k8s.api.%s', (name) => {
    expect(schemas.get(`io.k8s.api.${name}`)).toMatchObject({ type: 'object' });
  });

  it('tell int32 from int64, and mark what is required', () => {
    expect(schemas.get('io.k8s.api.apps.v1.DeploymentSpec')).toMatchObject({
      required: ['selector', 'template'],
      properties: { replicas: { type: 'integer', format: 'int32' } },
    });
    expect(schemas.get('io.k8s.api.core.v1.PodSpec')?.properties?.['terminationGracePeriodSeconds']).toEqual({
      type: 'integer',
      format: 'int64',
      description: expect.any(String) as string,
    });
  });

  it('have every field that a merge fact or a description speaks of', () => {
    const unknown: string[] = [];
    for (const table of [MERGE_FACTS, DESCRIPTIONS]) {
      for (const [name, fields] of Object.entries(table)) {
        for (const field of Object.keys(fields)) {
          if (field !== '' && !schemas.get(name)?.properties?.[field]) unknown.push(`${name}.${field}`);
        }
      }
    }
    for (const [name, fields] of Object.entries(ATOMIC_MAPS)) {
      unknown.push(...fields.filter((field) => schemas.get(name)?.properties?.[field]?.type !== 'map'));
    }
    expect(unknown).toEqual([]);
  });

  it('say of a field and of its type different things, as kubectl explain prints both', () => {
    const repeated: string[] = [];
    for (const name of schemas.names) {
      for (const [field, { description, ref }] of Object.entries(schemas.get(name)?.properties ?? {})) {
        if (description && ref && schemas.get(ref)?.description === description)
          repeated.push(`${name}.${field}`);
      }
    }
    expect(repeated).toEqual([]);
  });

  it('merge lists by keys that their items have', () => {
    const wrong: string[] = [];
    for (const [name, fields] of Object.entries(MERGE_FACTS)) {
      for (const [field, facts] of Object.entries(fields)) {
        const items = resolve(schemas.get(name)?.properties?.[field]?.items);
        for (const key of [facts.patchMergeKey, ...(facts.listMapKeys ?? [])]) {
          if (key !== undefined && !items?.properties?.[key]) wrong.push(`${name}.${field}: ${key}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('merge containers by name and their ports by port and protocol', () => {
    expect(schemas.get('io.k8s.api.core.v1.PodSpec')?.properties?.['containers']).toMatchObject({
      patchStrategy: 'merge',
      patchMergeKey: 'name',
      listType: 'map',
      listMapKeys: ['name'],
    });
    expect(schemas.get('io.k8s.api.core.v1.Container')?.properties?.['ports']).toMatchObject({
      patchMergeKey: 'containerPort',
      listMapKeys: ['containerPort', 'protocol'],
    });
  });
});
