import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const NAMESPACE = '/api/v1/namespaces/default';

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer();
});
afterAll(() => api.stop());

async function made(path: string, object: object): Promise<void> {
  const { body, status } = await api.call('POST', path, object);
  expect(status, JSON.stringify(body)).toBe(201);
}

async function bind(name: string, spec: object): Promise<void> {
  await made(`${GROUP}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: 'few-keys', validationActions: ['Deny'], ...spec },
  });
}

async function unbind(name: string): Promise<void> {
  await api.call('DELETE', `${GROUP}/validatingadmissionpolicybindings/${name}`);
}

const create = (name: string, keys: number, more: Body = {}) =>
  api.call('POST', `${NAMESPACE}/configmaps?dryRun=All`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...more },
    data: Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 'v'])),
  });

it('Policies deny or warn as their bindings say, with the parameters that these name', async () => {
  await made(`${GROUP}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'few-keys' },
    spec: {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      variables: [{ name: 'most', expression: 'int(params.data.most)' }],
      validations: [
        {
          expression: 'size(object.data) <= variables.most',
          messageExpression: "'at most ' + string(variables.most) + ' keys'",
          reason: 'Forbidden',
        },
      ],
    },
  });
  expect((await create('unbound', 3)).status).toBe(201);

  const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
  await bind('b', { paramRef });
  const unconfigured = await create('a', 1);
  expect(unconfigured.status).toBe(422);
  expect(unconfigured.body.message).toMatch(
    /with binding 'b' denied request: failed to configure binding: no params found/,
  );
  await unbind('b');
  await made(`${NAMESPACE}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'limits' },
    data: { most: '2' },
  });

  await bind('b', { paramRef });
  expect((await create('a', 2)).status).toBe(201);
  const denied = await create('a', 3);
  expect(denied.status).toBe(403);
  expect(denied.body).toMatchObject({
    reason: 'Forbidden',
    message:
      "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'few-keys' with binding 'b' denied request: at most 2 keys",
  });
  await unbind('b');

  await bind('b', { paramRef, validationActions: ['Warn', 'Audit'] });
  const warned = await create('a', 3);
  expect(warned.status).toBe(201);
  expect(warned.headers.get('warning')).toMatch(
    /Validation failed for ValidatingAdmissionPolicy 'few-keys' with binding 'b': at most 2 keys/,
  );
  await unbind('b');

  await bind('b', { paramRef, matchResources: { objectSelector: { matchLabels: { judged: 'yes' } } } });
  expect((await create('a', 3)).status).toBe(201);
  expect((await create('a', 3, { labels: { judged: 'yes' } })).status).toBe(403);
});
