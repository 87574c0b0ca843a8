import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createKindRegistry } from '../../src/apiserver/index.js';
import type { KindDefinition } from '../../src/apiserver/kinds/index.js';
import { apiVersionOf } from '../../src/machinery/kubernetes/index.js';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const kinds = createKindRegistry().kinds;
const text = readFileSync(new URL('support/one-of-each-kind.yaml', import.meta.url), 'utf8');
const manifests: readonly Body[] = parseAllDocuments(text, { version: '1.1' }).map((one) => one.toJS());

const SERVICES = '/api/v1/namespaces/default/services';
const AUTOSCALERS = 'namespaces/default/horizontalpodautoscalers';
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

function manifestOf({ type }: KindDefinition): Body {
  return manifests.find(({ apiVersion, kind }) => apiVersion === apiVersionOf(type) && kind === type.kind);
}

/** The same change in every way of saying it. */
const PATCHES: readonly [object, { readonly 'content-type': string }][] = [
  [[{ op: 'add', path: '/metadata/annotations', value: { c: 'd', e: 'f' } }], JSON_PATCH],
  [{ metadata: { annotations: { c: 'd', e: null } } }, MERGE],
  [{ metadata: { annotations: { g: 'h' } } }, STRATEGIC],
];

/** The parts of an object that are written separately, with the body of an apply for each. */
function partsOf(kind: KindDefinition): readonly [string, object][] {
  const own = { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind, metadata: {} };
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: {}, spec: { replicas: 2 } };
  const parts: readonly [string, object][] = [
    ['status', { ...own, status: {} }],
    ['scale', scale],
  ];
  return parts.filter(([part]) => kind.subresources.includes(part));
}

function collectionOf({ type }: KindDefinition): string {
  const root = type.group === '' ? '/api/v1' : `/apis/${apiVersionOf(type)}`;
  return `${root}/${type.namespaced ? 'namespaces/default/' : ''}${type.resource}`;
}

describe.each(kinds)('one $type.kind in $type.group/$type.version', (kind) => {
  const manifest = manifestOf(kind);
  const collection = collectionOf(kind);
  const path = `${collection}/${manifest?.metadata.name}`;

  it('is created, read, listed as a table, patched, applied again without its label, and deleted', async () => {
    const labelled = { ...manifest, metadata: { labels: { a: 'b' }, ...manifest.metadata } };
    const created = await server.call('POST', collection, labelled);
    expect({ status: created.status, message: created.body.message }).toEqual({ status: 201 });

    const read = await server.call('GET', path);
    expect(read.body).toMatchObject({ apiVersion: manifest.apiVersion, kind: manifest.kind });
    const list = await server.call('GET', collection, undefined, TABLE);
    const names = list.body.rows.map((row: Body) => row.object.metadata.name);
    expect(names).toContain(manifest.metadata.name);

    const { uid } = read.body.metadata;
    for (const [patch, type] of PATCHES) {
      const patched = await server.call('PATCH', path, patch, type);
      expect(patched.body.metadata, type['content-type']).toMatchObject({ annotations: { c: 'd' }, uid });
    }
    for (const config of [labelled, manifest]) {
      const applied = await server.call('PATCH', `${path}?fieldManager=me&force=true`, config, APPLY);
      expect({ status: applied.status, message: applied.body.message }).toEqual({ status: 200 });
      expect(applied.body.metadata.uid).toBe(uid);
    }

    expect((await server.call('DELETE', `${path}?gracePeriodSeconds=0`)).status).toBeLessThan(300);
  });
});

describe.each(kinds.filter((kind) => partsOf(kind).length > 0))(
  'the parts of one $type.kind in $type.group/$type.version',
  (kind) => {
    it('are patched in every way, and applied', async () => {
      const manifest = manifestOf(kind);
      const collection = collectionOf(kind);
      await server.call('POST', collection, manifest);
      for (const [part, config] of partsOf(kind)) {
        const path = `${collection}/${manifest.metadata.name}/${part}`;
        const tries = [
          [[], JSON_PATCH],
          [{}, MERGE],
          [{}, STRATEGIC],
          [{ ...config, metadata: { name: manifest.metadata.name } }, APPLY],
        ] as const;
        for (const [patch, type] of tries) {
          const query = type === APPLY ? '?fieldManager=me&force=true' : '';
          const { body, status } = await server.call('PATCH', path + query, patch, type);
          expect({ part, type, status, message: body.message }).toEqual({ part, type, status: 200 });
        }
        const shown = await server.call('GET', path, undefined, TABLE);
        const columns = shown.body.columnDefinitions.map(({ name }: Body) => name as string);
        if (part === 'scale') expect(columns).toEqual(['Name', 'Desired', 'Available', 'Age']);
        expect(shown.body.rows[0].cells[0]).toBe(manifest.metadata.name);
      }
      await server.call('DELETE', `${collection}/${manifest.metadata.name}?gracePeriodSeconds=0`);
    });
  },
);

describe('a Service', () => {
  const aService = (name: string, spec: object = {}): Body => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });

  it('gets an address that no other has, and keeps it', async () => {
    const one = await server.call('POST', SERVICES, aService('one'));
    const { clusterIP, clusterIPs } = one.body.spec;
    expect(clusterIP).toMatch(/^10\.(9[6-9]|10\d|11[01])\./);
    expect(clusterIPs).toEqual([clusterIP]);
    const taken = await server.call('POST', SERVICES, aService('other', { clusterIP }));
    expect(taken.body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(taken.body.message).toContain('provided IP is already allocated');
    const replaced = await server.call('PUT', `${SERVICES}/one`, aService('one', { selector: { a: 'b' } }));
    expect(replaced.body.spec).toMatchObject({ clusterIP, selector: { a: 'b' } });
  });

  it('gives its address and its port on the nodes back when it goes', async () => {
    const first = await server.call('POST', SERVICES, aService('gone', { type: 'NodePort' }));
    const { clusterIP, ports } = first.body.spec;
    expect(ports[0].nodePort).toBeGreaterThanOrEqual(30000);
    const same = { type: 'NodePort', clusterIP, ports };
    expect((await server.call('POST', SERVICES, aService('next', same))).status).toBe(422);
    await server.call('DELETE', `${SERVICES}/gone`);
    expect((await server.call('POST', SERVICES, aService('next', same))).status).toBe(201);
  });
});

describe('a HorizontalPodAutoscaler', () => {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

  it('is the same object in both versions', async () => {
    const memory = { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } };
    const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } };
    const metrics = [cpu, memory].map((resource) => ({ type: 'Resource', resource }));
    const spec = { scaleTargetRef, maxReplicas: 3, metrics };
    const { body } = await server.call('POST', `/apis/autoscaling/v2/${AUTOSCALERS}`, {
      metadata: { name: 'both' },
      spec,
    });
    const older = await server.call('GET', `/apis/autoscaling/v1/${AUTOSCALERS}/both`);
    expect(older.body).toMatchObject({
      apiVersion: 'autoscaling/v1',
      metadata: { uid: body.metadata.uid },
      spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 60 },
    });
    const change = { spec: { maxReplicas: 4 } };
    await server.call('PATCH', `/apis/autoscaling/v1/${AUTOSCALERS}/both`, change, MERGE);
    const newer = await server.call('GET', `/apis/autoscaling/v2/${AUTOSCALERS}/both`);
    expect(newer.body.spec.maxReplicas).toBe(4);
    expect(newer.body.spec.metrics).toEqual(expect.arrayContaining(metrics));
  });

  it.each(['v1', 'v2'])('is, as %s without metrics, about 80 percent of the CPU', async (version) => {
    const name = `default-${version}`;
    const made = await server.call('POST', `/apis/autoscaling/${version}/${AUTOSCALERS}`, {
      metadata: { name },
      spec: { scaleTargetRef, maxReplicas: 3 },
    });
    expect(made.status).toBe(201);
    const { body } = await server.call('GET', `/apis/autoscaling/v1/${AUTOSCALERS}/${name}`);
    expect(body.spec).toMatchObject({ minReplicas: 1, targetCPUUtilizationPercentage: 80 });
  });
});

describe('a Secret', () => {
  it('has what was written as text among its data, and no text', async () => {
    const { body } = await server.call('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'password' },
      stringData: { a: 'b' },
    });
    expect(body).toMatchObject({ type: 'Opaque', data: { a: 'Yg==' } });
    expect(body.stringData).toBeUndefined();
  });

  it('stays as it is if it is immutable', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    await server.call('POST', secrets, { metadata: { name: 'fixed' }, data: {}, immutable: true });
    const change = { data: { a: 'Yg==' } };
    const { body } = await server.call('PATCH', `${secrets}/fixed`, change, MERGE);
    expect(body.message).toContain('field is immutable when `immutable` is set');
  });
});
