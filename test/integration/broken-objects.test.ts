import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { MemoryStorage, RedisStorage } from '../../src/apiserver/index.js';
import type { Storage } from '../../src/apiserver/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { startApiServer } from './api-server-harness.js';

const RBAC = 'rbac.authorization.k8s.io';
const ROLES = `/apis/${RBAC}/v1/namespaces/default/roles`;
const NAMED = { roleRef: { apiGroup: RBAC, kind: 'Role', name: 'x' } };

/** Resource, version and kind, and what is wrong with the object beside its metadata. */
const BROKEN: readonly (readonly [resource: string, apiVersion: string, kind: string, fields: object])[] = [
  [`rolebindings.${RBAC}`, `${RBAC}/v1`, 'RoleBinding', { ...NAMED, subjects: 5 }],
  [`rolebindings.${RBAC}`, `${RBAC}/v1`, 'RoleBinding', { ...NAMED, subjects: [null] }],
  [`rolebindings.${RBAC}`, `${RBAC}/v1`, 'RoleBinding', { subjects: [{ kind: 'User', name: 'jane' }] }],
  [`rolebindings.${RBAC}`, `${RBAC}/v9`, 'RoleBinding', { ...NAMED, subjects: [] }],
  [`clusterrolebindings.${RBAC}`, `${RBAC}/v1`, 'ClusterRoleBinding', { ...NAMED, subjects: 'all' }],
  [`roles.${RBAC}`, `${RBAC}/v1`, 'Role', { rules: 5 }],
  [`roles.${RBAC}`, `${RBAC}/v1`, 'Role', { rules: [null] }],
  [`roles.${RBAC}`, `${RBAC}/v1`, 'Role', { rules: [{ verbs: { includes: 1 } }] }],
  [`clusterroles.${RBAC}`, `${RBAC}/v1`, 'ClusterRole', { aggregationRule: { clusterRoleSelectors: 5 } }],
  ['namespaces', 'v1', 'Namespace', { spec: { finalizers: {} } }],
  ['serviceaccounts', 'v1', 'ServiceAccount', { secrets: 5 }],
  ['resourcequotas', 'v1', 'ResourceQuota', { spec: { hard: 5 } }],
  ['limitranges', 'v1', 'LimitRange', { spec: { limits: [null] } }],
  ['priorityclasses.scheduling.k8s.io', 'scheduling.k8s.io/v1', 'PriorityClass', { value: {} }],
  ['storageclasses.storage.k8s.io', 'storage.k8s.io/v1', 'StorageClass', { parameters: 5 }],
  ['ingressclasses.networking.k8s.io', 'networking.k8s.io/v1', 'IngressClass', { spec: 5 }],
  ['mutatingwebhookconfigurations.admissionregistration.k8s.io', 'admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', { webhooks: [{ rules: 5, failurePolicy: 'Ignore' }] }],
  ['validatingwebhookconfigurations.admissionregistration.k8s.io', 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', { webhooks: [{ rules: [{ resources: ['leases'] }] }] }],
  ['validatingadmissionpolicies.admissionregistration.k8s.io', 'admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', { spec: { failurePolicy: 'Ignore', validations: [null] } }],
  ['validatingadmissionpolicybindings.admissionregistration.k8s.io', 'admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', { spec: [] }],
  ['customresourcedefinitions.apiextensions.k8s.io', 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', { spec: { versions: 5 } }],
]; // prettier-ignore

const NAMESPACED = new Set(['RoleBinding', 'Role', 'ServiceAccount', 'ResourceQuota', 'LimitRange']);

async function plant(storage: Storage): Promise<string[]> {
  const paths: string[] = [];
  for (const [index, [qualified, apiVersion, kind, fields]] of BROKEN.entries()) {
    const namespace = NAMESPACED.has(kind) ? 'default' : '';
    const name = `broken-${index}`;
    const object = { apiVersion, kind, metadata: { name, uid: name, ...(namespace && { namespace }) }, ...fields };
    await storage.create({ resource: qualified, namespace, name }, object);
    const [resource, ...group] = qualified.split('.');
    const root = group.length === 0 ? '/api/v1' : `/apis/${group.join('.')}/v1`;
    paths.push(`${root}${namespace && `/namespaces/${namespace}`}/${resource}/${name}`);
  }
  return paths;
} // prettier-ignore

const USER = { token: 'of-jane', username: 'jane', uid: 'jane', groups: [] };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const AS_JANE = { authorization: `Bearer ${USER.token}` };

describe.each([
  ['in memory', () => new MemoryStorage({ clock: new SystemClock() })],
  ['on Redis', () => new RedisStorage({ url: inject('redisUrl'), keyPrefix: `broken-${randomUUID()}:` })],
])('objects that cannot be understood, %s', (_name, makeStorage) => {
  it('cost themselves: the server starts, follows the others, and deletes them by their names', async () => {
    const storage = makeStorage();
    const planted: string[] = [];
    if (storage instanceof MemoryStorage) planted.push(...(await plant(storage)));
    const server = await startApiServer({ storage, users: [USER] });
    // On Redis they come by the watch.
    if (planted.length === 0) planted.push(...(await plant(storage)));
    const verbose = async (): Promise<string> => (await server.call('GET', '/readyz?verbose')).text;
    await waitFor(async () => (await verbose()).includes(`[!]objects: ${BROKEN.length} in the store`));
    expect(await verbose()).toContain('readyz check passed');

    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
    const role = { metadata: { name: 'reader' }, rules };
    expect((await server.call('POST', ROLES, role)).status).toBe(201);
    const subjects = [{ kind: 'User', name: 'jane', apiGroup: RBAC }];
    const binding = { metadata: { name: 'reader' }, roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reader' }, subjects };
    expect((await server.call('POST', ROLES.replace('roles', 'rolebindings'), binding)).status).toBe(201);
    const pods = '/api/v1/namespaces/default/pods';
    expect((await server.call('GET', pods, undefined, AS_JANE)).status).toBe(200);
    expect((await server.call('GET', '/api/v1/namespaces/kube-system/pods', undefined, AS_JANE)).status).toBe(403);

    for (const path of planted)
      expect({ path, status: (await server.call('DELETE', path)).status }).toEqual({ path, status: 200 });
    await waitFor(async () => !(await verbose()).includes('[!]objects'));
    await server.stop();
  }); // prettier-ignore
});

describe('values in Redis that are no object of their name', () => {
  it.each([
    ['an unfinished text', '{"apiVersion":"v1","kind":"Role","metadata":{"name":"bad"'],
    ['no metadata', '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role"}'],
    ['the name of another', '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"other","namespace":"default"}}'],
    ['owners of another type', '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"bad","namespace":"default","ownerReferences":5}}'],
    ['another type', '5'],
    ['nothing', ''],
  ])('is left out of lists, and deleted by its name: %s', async (_name, text) => {
    const keyPrefix = `broken-${randomUUID()}:`;
    const aStorage = () => new RedisStorage({ url: inject('redisUrl'), keyPrefix });
    const first = await startApiServer({ storage: aStorage() });
    const role = { metadata: { name: 'good' }, rules: [] };
    const { body } = await first.call('POST', ROLES, role);
    await first.stop();
    const redis = new Redis(inject('redisUrl'));
    const base = `${keyPrefix}{storage}:`;
    await redis.hset(`${base}objects:roles.${RBAC}`, 'default\0bad', `${body.metadata.resourceVersion} ${text}`);
    await redis.zadd(`${base}index:roles.${RBAC}`, 0, 'default\0bad');
    redis.disconnect();

    const server = await startApiServer({ storage: aStorage() });
    const listed = await server.call('GET', ROLES);
    expect(listed.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['good']);
    expect((await server.call('GET', '/readyz?verbose')).text).toContain('[!]objects: 1 in the store');
    expect((await server.call('DELETE', `${ROLES}/bad`)).status).toBe(200);
    expect((await server.call('GET', `${ROLES}/bad`)).status).toBe(404);
    await server.stop();
  }); // prettier-ignore
});

describe('values that are no object, of a kind that the server does not follow', () => {
  const MAPS = '/api/v1/namespaces/default/configmaps';

  // Side by side: each ends with watches that run out.
  it.concurrent.each([
    ['an unfinished text', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"'],
    ['text that goes wrong later', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"},"data":{"a":}}'],
    ['no metadata', '{"apiVersion":"v1","kind":"ConfigMap"}'],
    ['the name of another', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other-bad","namespace":"default"}}'],
    ['no name', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default"},"data":{"a":"bad"}}'],
    ['owners of another type', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad","namespace":"default","ownerReferences":5}}'],
    ['an owner that is nothing', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad","namespace":"default","ownerReferences":[null]}}'],
    ['another type', '5'],
    ['nothing', ''],
  ])('costs itself: lists, watches and the others of its kind go on: %s', async (_name, text) => {
    const keyPrefix = `broken-${randomUUID()}:`;
    const server = await startApiServer({ storage: new RedisStorage({ url: inject('redisUrl'), keyPrefix }), users: [USER] });
    const { body } = await server.call('POST', MAPS, { metadata: { name: 'good' } });
    const redis = new Redis(inject('redisUrl'));
    const base = `${keyPrefix}{storage}:`;
    await redis.hset(`${base}objects:configmaps`, 'default\0bad', `${body.metadata.resourceVersion} ${text}`);
    await redis.zadd(`${base}index:configmaps`, 0, 'default\0bad');
    redis.disconnect();
    const role = { metadata: { name: 'maps' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] };
    await server.call('POST', ROLES, role);
    await server.call('POST', ROLES.replace('roles', 'rolebindings'), {
      metadata: { name: 'maps' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'maps' },
      subjects: [{ kind: 'User', name: 'jane', apiGroup: RBAC }],
    });

    for (const headers of [{}, AS_JANE, { accept: 'application/yaml' }, TABLE]) {
      const listed = await server.call('GET', MAPS, undefined, headers);
      expect(listed.status).toBe(200);
      expect(listed.text).toContain('good');
      expect(listed.text).not.toMatch(/\bbad\b/);
    }
    expect((await server.call('GET', '/api/v1/configmaps?limit=1')).body.items).toHaveLength(1);
    const verbose = async (): Promise<string> => (await server.call('GET', '/readyz?verbose')).text;
    expect(await verbose()).toContain('[!]objects: 1 in the store');

    const after = `watch=true&timeoutSeconds=2&resourceVersion=${body.metadata.resourceVersion}`;
    const watches = ['', '&labelSelector=a!=b'].map((rest) => server.call('GET', `${MAPS}?${after}${rest}`));
    const streaming = server.call('GET', `${MAPS}?watch=true&timeoutSeconds=2&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    expect((await server.call('DELETE', `${MAPS}/bad`)).status).toBe(200);
    expect(await verbose()).not.toContain('[!]objects');
    await server.call('POST', MAPS, { metadata: { name: 'later' } });
    for (const answer of await Promise.all([...watches, streaming])) {
      expect(answer.text).toContain('"later"');
      expect(answer.text).not.toContain('ERROR');
    }
    await server.stop();
  }); // prettier-ignore
});
