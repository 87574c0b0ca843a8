import { describe, expect, it } from 'vitest';
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
      for (const shape of schema.anyOf ?? []) visit(at, shape);
      for (const [name, shape] of Object.entries(schema.properties ?? {})) visit(`${at}.${name}`, shape);
    };
    for (const name of schemas.names) visit(name, schemas.get(name) as ObjectSchema);
    expect(dangling).toEqual([]);
  });

  it.each([
    ...['core.v1.Pod', 'core.v1.Namespace', 'core.v1.Node', 'core.v1.Event'],
    ...['core.v1.ServiceAccount', 'core.v1.Binding', 'apps.v1.Deployment', 'apps.v1.ReplicaSet'],
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
    });
  });

  it('are described, every field of them', () => {
    const spec = schemas.get('io.k8s.api.core.v1.PodSpec')!;
    expect(Object.keys(schemas.describe('io.k8s.api.core.v1.PodSpec')).sort()).toEqual(
      ['', ...Object.keys(spec.properties!)].sort(),
    );
  });

  it('say of a field and of its type different things, as kubectl explain prints both', () => {
    const repeated: string[] = [];
    for (const name of schemas.names) {
      for (const [field, { ref }] of Object.entries(schemas.get(name)?.properties ?? {})) {
        const description = schemas.describe(name)[field];
        if (description && ref && schemas.describe(ref)[''] === description)
          repeated.push(`${name}.${field}`);
      }
    }
    expect(repeated).toEqual([]);
  });

  it('merge lists by keys that their items have', () => {
    const wrong: string[] = [];
    for (const name of schemas.names) {
      for (const [field, shape] of Object.entries(schemas.get(name)?.properties ?? {})) {
        const items = resolve(shape.items);
        for (const key of [shape.patchMergeKey, ...(shape.listMapKeys ?? [])]) {
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
