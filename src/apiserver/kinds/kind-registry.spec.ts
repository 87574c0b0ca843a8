import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../machinery/kubernetes/index.js';
import { createSchemaRegistry } from '../schema/index.js';
import { createKindRegistry } from './kind-registry.js';
import type { KindDefinition, KindRegistry } from './kind-definition.js';

const registry = createKindRegistry();
const schemas = createSchemaRegistry();
const NOW = Date.parse('2026-01-02T00:00:00Z');

function kind(name: string): KindDefinition {
  const found = registry.kinds.find(({ type }) => type.kind === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}

function viewOfEvents(own: KindRegistry): NonNullable<KindDefinition['view']> {
  return own.find('events.k8s.io', 'v1', 'events')!.view!;
}

function anObject(name: string, fields: object = {}): UnstructuredObject {
  return {
    apiVersion: 'v1',
    kind: name,
    metadata: { name: 'a', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
    ...fields,
  };
}

function aClusterObject(name: string, fields: object = {}): UnstructuredObject {
  const object = anObject(name, fields);
  delete object.metadata.namespace;
  return object;
}

function wide(name: string, object: UnstructuredObject): Record<string, unknown> {
  const one = kind(name);
  const cells = one.toRow(object, NOW);
  expect(cells).toHaveLength(one.columns.length);
  return Object.fromEntries(one.columns.map((column, index) => [column.name, cells[index]]));
}

describe('the registry of kinds', () => {
  it('finds a kind by path and by name', () => {
    expect(registry.find('apps', 'v1', 'deployments')?.type.kind).toBe('Deployment');
    expect(registry.findByKind('coordination.k8s.io/v1', 'Lease')?.type.resource).toBe('leases');
    expect(registry.find('', 'v1', 'deployments')).toBeUndefined();
  });

  it('lets nothing take the place of a built-in kind in the store', () => {
    const own = createKindRegistry();
    const role = own.find('rbac.authorization.k8s.io', 'v1', 'roles')!;
    const shadow = { ...role, type: { ...role.type, version: 'v9' } };
    expect(() => own.put(shadow)).toThrow(
      'roles.rbac.authorization.k8s.io is the resource of a built-in kind',
    );
    const viewed = {
      ...role,
      type: { ...role.type, group: 'example.com' },
      view: { ...viewOfEvents(own), resource: 'secrets' },
    };
    expect(() => own.put(viewed)).toThrow('secrets is the resource of a built-in kind');
    expect(() => own.remove(role.type)).toThrow(RangeError);
    expect(own.find('rbac.authorization.k8s.io', 'v1', 'roles')).toBe(role);
  });

  it.each(registry.kinds)('has a schema and a row for $type.kind', (one) => {
    expect(schemas.get(one.schema)).toBeDefined();
    expect(one.toRow(anObject(one.type.kind), NOW)).toHaveLength(one.columns.length);
    expect(one.columns[0]?.name === 'Name' || one.type.kind === 'Event').toBe(true);
  });

  it.each(registry.kinds)('asks for a name of $type.kind, and a namespace where there is one', (one) => {
    const object = anObject(one.type.kind, { metadata: {} });
    one.applyDefaults(object);
    const fields = one.validateCreate(object).map(({ field }) => field);
    expect(fields).toContain('metadata.name');
    expect(fields.includes('metadata.namespace')).toBe(one.type.namespaced);
  });
});

describe('a namespace', () => {
  it('starts active, with its finalizer and its name as a label', () => {
    const object = aClusterObject('Namespace');
    kind('Namespace').applyDefaults(object);
    kind('Namespace').prepareForCreate(object);
    expect(object).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'a' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    expect(wide('Namespace', object)).toEqual({ Name: 'a', Status: 'Active', Age: '24h' });
    expect(kind('Namespace').selectableFields(object)).toEqual({
      'metadata.name': 'a',
      'status.phase': 'Active',
    });
  });

  it('loses its finalizer only by way of finalize', () => {
    const old = aClusterObject('Namespace', { spec: { finalizers: ['kubernetes'] } });
    const without = (): UnstructuredObject => aClusterObject('Namespace', { spec: {} });
    const updated = without();
    kind('Namespace').prepareForUpdate(updated, old, '');
    expect(updated.spec).toEqual({ finalizers: ['kubernetes'] });
    const finalized = without();
    kind('Namespace').prepareForUpdate(finalized, old, 'finalize');
    expect(finalized.spec).toEqual({});
  });

  it('is terminating exactly when it is being deleted', () => {
    const object = aClusterObject('Namespace', { status: { phase: 'Terminating' } });
    expect(kind('Namespace').validateUpdate(object, object, 'status')).toEqual([
      {
        type: 'FieldValueInvalid',
        field: 'status.Phase',
        message: 'Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
      },
    ]);
    object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(kind('Namespace').validateUpdate(object, object, 'status')).toEqual([]);
  });

  it('has a name without dots, and is in no namespace', () => {
    const object = anObject('Namespace');
    object.metadata.name = 'a.b';
    const errors = kind('Namespace').validateCreate(object);
    expect(errors.map(({ field, type }) => [field, type])).toEqual([
      ['metadata.name', 'FieldValueInvalid'],
      ['metadata.namespace', 'FieldValueForbidden'],
    ]);
  });
});

describe('a node', () => {
  const object = aClusterObject('Node', {
    spec: { unschedulable: true },
    status: {
      capacity: { pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      nodeInfo: { kubeletVersion: 'v1.33.0', osImage: 'Simulated' },
    },
  });
  object.metadata.labels = { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'extra' };

  it('shows whether it is ready, and its roles', () => {
    expect(wide('Node', object)).toEqual({
      Name: 'a',
      Status: 'Ready,SchedulingDisabled',
      Roles: 'extra,worker',
      Age: '24h',
      Version: 'v1.33.0',
      'Internal-IP': '10.0.0.1',
      'External-IP': '<none>',
      'OS-Image': 'Simulated',
      'Kernel-Version': '<unknown>',
      'Container-Runtime': '<unknown>',
    });
  });

  it('offers all that it has, unless it says otherwise', () => {
    const copy = structuredClone(object);
    kind('Node').applyDefaults(copy);
    expect(copy.status).toMatchObject({ allocatable: { pods: '110' } });
  });

  it('keeps status and spec apart', () => {
    const update = aClusterObject('Node', { spec: {}, status: {} });
    kind('Node').prepareForUpdate(update, object, '');
    expect(update).toMatchObject({ spec: {}, status: { capacity: { pods: '110' } } });
    const status = aClusterObject('Node', { status: {} });
    kind('Node').prepareForUpdate(status, object, 'status');
    expect(status).toMatchObject({ spec: { unschedulable: true }, status: {} });
  });
});

describe('an event', () => {
  const object = anObject('Event', {
    involvedObject: { kind: 'Deployment', name: 'web', namespace: 'default', uid: 'u' },
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: ' Scaled up ',
    source: { component: 'deployment-controller' },
    firstTimestamp: '2026-01-01T23:50:00Z',
    lastTimestamp: '2026-01-01T23:59:00Z',
    count: 3,
  });

  it('shows its row', () => {
    expect(wide('Event', object)).toEqual({
      'Last Seen': '60s',
      Type: 'Normal',
      Reason: 'ScalingReplicaSet',
      Object: 'deployment/web',
      Subobject: '',
      Source: 'deployment-controller',
      Message: 'Scaled up',
      'First Seen': '10m',
      Count: 3,
      Name: 'a',
    });
  });

  it('can be selected by what it is about', () => {
    expect(kind('Event').selectableFields(object)).toMatchObject({
      'involvedObject.name': 'web',
      'involvedObject.uid': 'u',
      source: 'deployment-controller',
      type: 'Normal',
    });
  });

  it('lies in the namespace of what it is about', () => {
    const elsewhere = structuredClone(object);
    elsewhere.metadata.namespace = 'other';
    expect(kind('Event').validateCreate(object)).toEqual([]);
    expect(kind('Event').validateCreate(elsewhere)).toMatchObject([{ field: 'involvedObject.namespace' }]);
  });
});

describe('the other kinds', () => {
  it('a lease shows its holder, and lasts', () => {
    const object = anObject('Lease', { spec: { holderIdentity: 'me', leaseDurationSeconds: 0 } });
    expect(wide('Lease', object)).toEqual({ Name: 'a', Holder: 'me', Age: '24h' });
    expect(kind('Lease').validateCreate(object)).toMatchObject([{ field: 'spec.leaseDurationSeconds' }]);
  });

  it('a service account shows its name and its age alone', () => {
    expect(wide('ServiceAccount', anObject('ServiceAccount'))).toEqual({ Name: 'a', Age: '24h' });
  });

  it('a ReplicaSet raises its generation with its spec only', () => {
    const one = kind('ReplicaSet');
    const old = anObject('ReplicaSet', { spec: { replicas: 1 }, status: { replicas: 1 } });
    old.metadata.generation = 2;
    const update = (spec: object, annotations: Record<string, string>, part: '' | 'status') => {
      const object = anObject('ReplicaSet', { spec, status: { replicas: 5 } });
      object.metadata.annotations = annotations;
      one.prepareForUpdate(object, old, part);
      return [object.metadata.generation, object.spec, object.status];
    };
    expect(update({ replicas: 1 }, { a: 'b' }, '')).toEqual([2, { replicas: 1 }, { replicas: 1 }]);
    expect(update({ replicas: 2 }, {}, '')).toEqual([3, { replicas: 2 }, { replicas: 1 }]);
    expect(update({ replicas: 2 }, {}, 'status')).toEqual([2, { replicas: 1 }, { replicas: 5 }]);
  });

  it('a ReplicaSet shows its row', () => {
    const object = anObject('ReplicaSet', {
      spec: {
        replicas: 3,
        selector: { matchLabels: { b: '2', a: '1' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
        template: {
          spec: {
            containers: [
              { name: 'x', image: 'i:1' },
              { name: 'y', image: 'j:2' },
            ],
          },
        },
      },
      status: { replicas: 2, readyReplicas: 1 },
    });
    expect(wide('ReplicaSet', object)).toEqual({
      Name: 'a',
      Desired: 3,
      Current: 2,
      Ready: 1,
      Age: '24h',
      Containers: 'x,y',
      Images: 'i:1,j:2',
      Selector: 'a=1,b=2,c',
    });
  });

  it('a ReplicaSet cannot report more ready pods than it has', () => {
    const object = anObject('ReplicaSet', { status: { replicas: 1, readyReplicas: 2 } });
    expect(kind('ReplicaSet').validateUpdate(object, object, 'status')).toMatchObject([
      { field: 'status.readyReplicas', message: 'Invalid value: 2: cannot be greater than status.replicas' },
    ]);
  });
});
