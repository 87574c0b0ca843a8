import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { aDeployment, startApiServer } from './api-server-harness.js';
import type { ApiAnswer, Body, RunningApiServer } from './api-server-harness.js';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

function apply(path: string, config: unknown, query: string): Promise<ApiAnswer> {
  return server.call('PATCH', `${path}?${query}`, stringify(config), {
    'content-type': 'application/apply-patch+yaml',
  });
}

describe('an applied empty value', () => {
  it('resumes a Deployment, and sets each of its fields back to zero', async () => {
    const made = aDeployment('zero', { paused: true, minReadySeconds: 10 });
    Object.assign(made.spec.template.spec, { hostNetwork: true });
    Object.assign(made.spec.template.spec.containers[0], { tty: true, env: [{ name: 'A', value: 'x' }] });
    expect((await server.call('POST', `${DEPLOYMENTS}?fieldManager=you`, made)).status).toBe(201);
    const config = aDeployment('zero', { paused: false, minReadySeconds: 0 });
    Object.assign(config.spec.template.spec, { hostNetwork: false });
    Object.assign(config.spec.template.spec.containers[0], { tty: false, env: [{ name: 'A', value: '' }] });
    const refused = await apply(`${DEPLOYMENTS}/zero`, config, 'fieldManager=me');
    expect(refused.status).toBe(409);
    const fields = refused.body.details.causes.map(({ field }: Body) => field);
    expect(fields).toEqual(expect.arrayContaining(['.spec.paused', '.spec.minReadySeconds']));
    const { body, status } = await apply(`${DEPLOYMENTS}/zero`, config, 'fieldManager=me&force=true');
    expect(status).toBe(200);
    expect(body.spec.paused).toBeUndefined();
    expect(body.spec.minReadySeconds).toBeUndefined();
    const pod = body.spec.template.spec;
    expect(pod.hostNetwork).toBeUndefined();
    expect(pod.containers[0]).toMatchObject({ env: [{ name: 'A' }] });
    expect(pod.containers[0].tty).toBeUndefined();
    const again = await apply(`${DEPLOYMENTS}/zero`, config, 'fieldManager=me');
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  it('has an owner, with whom another value conflicts', async () => {
    expect((await apply('/api/v1/nodes/node-1', aNode(false), 'fieldManager=me')).status).toBe(201);
    const refused = await apply('/api/v1/nodes/node-1', aNode(true), 'fieldManager=you');
    expect(refused.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "me": .spec.unschedulable',
    );
    expect((await apply('/api/v1/nodes/node-1', aNode(true), 'fieldManager=you&force=true')).status).toBe(
      200,
    );
    const uncordoned = await apply('/api/v1/nodes/node-1', aNode(false), 'fieldManager=me&force=true');
    expect(uncordoned.body.spec.unschedulable).toBeUndefined();
  });

  it('empties the rules of a Role, down to no rule at all', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    const role = (rules: unknown): Body => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r' },
      rules,
    });
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    expect((await server.call('POST', `${path}?fieldManager=you`, role(rules))).status).toBe(201);
    const { body } = await apply(`${path}/r`, role([]), 'fieldManager=me&force=true');
    expect(body.rules).toBeNull();
    expect(body.metadata.managedFields).toMatchObject([{ manager: 'me', fieldsV1: { 'f:rules': {} } }]);
  });

  it('scales to zero', async () => {
    const made = aDeployment('scaled', { replicas: 3 });
    expect((await server.call('POST', `${DEPLOYMENTS}?fieldManager=you`, made)).status).toBe(201);
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'scaled' },
      spec: { replicas: 0 },
    };
    expect((await apply(`${DEPLOYMENTS}/scaled/scale`, scale, 'fieldManager=me')).status).toBe(409);
    const forced = await apply(`${DEPLOYMENTS}/scaled/scale`, scale, 'fieldManager=me&force=true');
    expect(forced.body.spec).toEqual({});
    expect((await server.call('GET', `${DEPLOYMENTS}/scaled`)).body.spec.replicas).toBe(0);
  });

  it('owns nothing of a whole object any more, and a list of nobody is left out', async () => {
    const path = '/api/v1/namespaces/default/configmaps/nobody';
    const map = (more = {}): Body => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'nobody' } },
      ...more,
    });
    expect((await apply(path, map({ data: { a: 'b' } }), 'fieldManager=me')).status).toBe(201);
    const { body } = await apply(path, map(), 'fieldManager=me');
    expect(body).not.toHaveProperty('data');
    expect(body.metadata).not.toHaveProperty('managedFields');
    await server.call('PATCH', `${path}?fieldManager=you`, { data: { a: 'c' } }, MERGE);
    const emptied = await server.call('PUT', `${path}?fieldManager=you`, map());
    expect(emptied.body.metadata).not.toHaveProperty('managedFields');
  });

  it('is compared as it is written, as is every quantity', async () => {
    const path = '/api/v1/namespaces/default/resourcequotas/q';
    const quota = (cpu: string): Body => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { hard: { cpu } },
    });
    expect((await apply(path, quota('1000m'), 'fieldManager=one')).status).toBe(201);
    const { body } = await apply(path, quota('1000m'), 'fieldManager=two');
    expect(body.message).toBe('Apply failed with 1 conflict: conflict with "one": .spec.hard.cpu');
    expect((await apply(path, quota('1'), 'fieldManager=two')).status).toBe(200);
  });

  it('stays in the annotation of client-side apply', async () => {
    const config = aDeployment('kept', { paused: false, minReadySeconds: 0 });
    const annotated = { ...config, metadata: { ...config.metadata, annotations: { [LAST_APPLIED]: '{}' } } };
    const query = 'fieldManager=kubectl-client-side-apply';
    expect((await server.call('POST', `${DEPLOYMENTS}?${query}`, annotated)).status).toBe(201);
    const { body } = await apply(`${DEPLOYMENTS}/kept`, config, 'fieldManager=kubectl&force=true');
    const written = body.metadata.annotations[LAST_APPLIED] as string;
    expect(JSON.parse(written)).toEqual(config);
    expect(written.endsWith('\n')).toBe(true);
  });
});

describe('an applied null in a custom resource', () => {
  it('conflicts with the owner of the value', async () => {
    await server.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition());
    const path = '/apis/example.org/v1/namespaces/default/things/t';
    const thing = (spec: unknown): Body => ({
      ...{ apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 't' }, spec },
    });
    const given = { text: 'x', flag: true, open: { a: { b: 1 } } };
    expect((await apply(path, thing(given), 'fieldManager=one')).status).toBe(201);
    const refused = await apply(
      path,
      thing({ text: null, flag: false, open: { a: null } }),
      'fieldManager=two',
    );
    expect(refused.body.details.causes.map(({ field }: Body) => field)).toEqual(['.spec.flag', '.spec.text']);
    const forced = await apply(path, thing({ text: '', flag: false }), 'fieldManager=two&force=true');
    expect(forced.body.spec).toEqual({ ...given, text: '', flag: false });
  });
});

function aNode(unschedulable: boolean): Body {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, spec: { unschedulable } };
}

function definition(): Body {
  const spec = {
    type: 'object',
    properties: {
      text: { type: 'string' },
      flag: { type: 'boolean' },
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
