import { describe, expect, it } from 'vitest';
import { createSchemaRegistry, decodeJson, emptyObjectOf } from '../index.js';
import type { Manager } from './managers.js';
import { writeOwners } from './managers.js';
import { shapeOfType } from './shape.js';
import { ownersAfterUpdate } from './update.js';

const schemas = createSchemaRegistry();
const manager: Manager = { name: 'm', operation: 'Update', apiVersion: 'v1', subresource: '' };

function fieldsOfNew(schema: string, after: object): unknown {
  const shape = shapeOfType(schemas, schema);
  const before = emptyObjectOf(schemas, schema);
  const { object } = decodeJson(JSON.stringify(after), schemas, schema, { empties: 'written' });
  const owners = ownersAfterUpdate(new Map(), { before, after: object, shape }, manager, 'T');
  return writeOwners(owners)[0]?.fieldsV1;
}

describe('the fields of a new object, as kube-apiserver 1.36 writes them down', () => {
  it('are those of a template with all its levels, where Go has a pointer to it', () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } };
    expect(fieldsOfNew('io.k8s.api.core.v1.ReplicationController', { spec: { template } })).toEqual({
      'f:spec': {
        'f:template': {
          '.': {},
          'f:metadata': { '.': {}, 'f:labels': { '.': {}, 'f:a': {} } },
          'f:spec': {
            '.': {},
            'f:containers': {
              '.': {},
              'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} },
            },
          },
        },
      },
    });
  });

  it('are not a text that is always written, while it is empty', () => {
    const schema = 'io.k8s.api.apps.v1.StatefulSet';
    expect(fieldsOfNew(schema, { spec: { serviceName: '', replicas: 1 } })).toEqual({
      'f:spec': { 'f:replicas': {} },
    });
    expect(fieldsOfNew(schema, { spec: { serviceName: 'db' } })).toEqual({
      'f:spec': { 'f:serviceName': {} },
    });
  });

  it('are those of the claim of a volume one by one, though a reference counts as one elsewhere', () => {
    const claimRef = { kind: 'PersistentVolumeClaim', name: 'c' };
    expect(fieldsOfNew('io.k8s.api.core.v1.PersistentVolume', { spec: { claimRef } })).toEqual({
      'f:spec': { 'f:claimRef': { '.': {}, 'f:kind': {}, 'f:name': {} } },
    });
  });
});
