import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { ApiAnswer, RunningApiServer } from './api-server-harness.js';

const GROUP = '/apis/resource.k8s.io/v1/namespaces';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LABEL = 'resource.kubernetes.io/admin-access';
const REFUSAL = `Forbidden: admin access to devices requires the \`${LABEL}: true\` label on the containing namespace`;

let server: RunningApiServer;

beforeAll(async () => {
  server = await startApiServer({
    users: [
      { token: 'tess', username: 'tess', uid: '1', groups: [] },
      { token: 'scheduler', username: 'system:kube-scheduler', uid: '2', groups: [] },
    ],
  });
  for (const name of ['shop', 'devices']) await made('/api/v1/namespaces', { metadata: { name } });
  await server.call('PATCH', '/api/v1/namespaces/devices', labelled('true'), MERGE);
  // An admin of both namespaces who may write statuses there as well, and nothing outside of them.
  await made(`${RBAC}/clusterroles`, {
    metadata: { name: 'statuses' },
    rules: [{ apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/status'], verbs: ['*'] }],
  });
  for (const namespace of ['shop', 'devices'])
    for (const role of ['admin', 'statuses'])
      await made(`${RBAC}/namespaces/${namespace}/rolebindings`, {
        metadata: { name: `tess-${role}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'User', name: 'tess' }],
      });
});
afterAll(() => server.stop());

const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

async function made(path: string, body: object): Promise<void> {
  const { status, text } = await server.call('POST', path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
}

function labelled(value: string): object {
  return { metadata: { labels: { [LABEL]: value } } };
}

function as(user: string, method: string, path: string, body: object, headers = {}): Promise<ApiAnswer> {
  return server.call(method, path, body, { authorization: `Bearer ${user}`, ...headers });
}

const spec = (adminAccess?: boolean): object => ({
  devices: {
    requests: [
      { name: 'plain', exactly: { deviceClassName: 'gpu' } },
      { name: 'all', exactly: { deviceClassName: 'gpu', allocationMode: 'All', adminAccess } },
    ],
  },
});

describe('claims to devices that others use', () => {
  const claim = (name: string, adminAccess?: boolean): object => ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name },
    spec: spec(adminAccess),
  });
  const template = (name: string, adminAccess?: boolean): object => ({
    metadata: { name },
    spec: { spec: spec(adminAccess) },
  });

  it('are refused in a namespace without the label, by every way to create one, also to the admin of the cluster', async () => {
    const field = 'spec.devices.requests[1].adminAccess';
    const answers = [
      await as('tess', 'POST', `${GROUP}/shop/resourceclaims`, claim('a', true)),
      await as('tess', 'POST', `${GROUP}/shop/resourceclaims?dryRun=All`, claim('a', true)),
      await as('tess', 'PATCH', `${GROUP}/shop/resourceclaims/a?fieldManager=m`, claim('a', true), APPLY),
      await as('tess', 'POST', `${GROUP}/shop/resourceclaimtemplates`, template('a', true)),
      await server.call('POST', `${GROUP}/shop/resourceclaims`, claim('a', true)),
    ];
    for (const { body, status } of answers) {
      expect(status).toBe(422);
      expect(body.details.causes).toEqual([{ reason: 'FieldValueForbidden', message: REFUSAL, field }]);
    }
  });

  it('are named before what else is wrong with the claim', async () => {
    const wrong = {
      metadata: { name: 'b' },
      spec: {
        devices: { requests: [{ name: 'Wrong', exactly: { deviceClassName: 'gpu', adminAccess: true } }] },
      },
    };
    const { body } = await as('tess', 'POST', `${GROUP}/shop/resourceclaims`, wrong);
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      'spec.devices.requests[0].adminAccess',
      'spec.devices.requests[0].name',
    ]);
  });

  it('are created in a namespace with the label, until the label is gone or says something else', async () => {
    const path = `${GROUP}/devices/resourceclaims`;
    expect((await as('tess', 'POST', path, claim('c', true))).status).toBe(201);
    expect(
      (await as('tess', 'POST', `${GROUP}/devices/resourceclaimtemplates`, template('c', true))).status,
    ).toBe(201);
    await server.call('PATCH', '/api/v1/namespaces/devices', labelled('True'), MERGE);
    expect((await as('tess', 'POST', path, claim('d', true))).status).toBe(422);
    // Existing claims stay, and can be changed.
    expect((await as('tess', 'PATCH', `${path}/c`, { metadata: { labels: { a: 'b' } } }, MERGE)).status).toBe(
      200,
    );
    await server.call('PATCH', '/api/v1/namespaces/devices', labelled('true'), MERGE);
  });

  it('need no label where nothing is asked of others', async () => {
    expect((await as('tess', 'POST', `${GROUP}/shop/resourceclaims`, claim('e', false))).status).toBe(201);
    expect((await as('tess', 'POST', `${GROUP}/shop/resourceclaims`, claim('f'))).status).toBe(201);
  });
});

describe('the status of a claim', () => {
  const result = { request: 'plain', driver: 'gpu.example.com', pool: 'p', device: 'd' };
  const allocation = (more = {}): object => ({
    devices: { results: [{ ...result, ...more }] },
    nodeSelector: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
    },
  });
  const path = `${GROUP}/shop/resourceclaims/s/status`;
  const patched = (user: string, status: object): Promise<ApiAnswer> =>
    as(user, 'PATCH', path, { status }, MERGE);

  beforeAll(() => made(`${GROUP}/shop/resourceclaims`, { metadata: { name: 's' }, spec: spec() }));

  it('says which devices it has, and who uses them, by the right to bind in the whole cluster alone', async () => {
    for (const status of [
      { allocation: allocation() },
      { allocation: {} },
      { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] },
    ]) {
      const { body, status: code } = await patched('tess', status);
      expect(code).toBe(422);
      expect(body.details.causes[0]).toEqual({
        reason: 'FieldValueForbidden',
        field: 'status',
        message:
          'Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "tess" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
      });
    }
    const put = await as('tess', 'PUT', path, {
      metadata: { name: 's' },
      spec: spec(),
      status: { allocation: allocation() },
    });
    expect(put.body.message).toContain('verb="update" permission');
  });

  it('allocates devices that others use only in a namespace with the label', async () => {
    const { body, status } = await server.call(
      'PATCH',
      path,
      { status: { allocation: allocation({ adminAccess: true }) } },
      MERGE,
    );
    expect(status).toBe(422);
    const field = 'status.allocation.devices.results[0].adminAccess';
    expect(body.details.causes).toEqual([{ reason: 'FieldValueForbidden', message: REFUSAL, field }]);
  });

  it('is bound by the scheduler, and released with what was said of the devices', async () => {
    const bound = await patched('scheduler', { allocation: allocation() });
    expect(bound.status).toBe(200);
    // An unchanged allocation needs no right.
    expect((await patched('tess', { allocation: allocation() })).status).toBe(200);
  });

  it('says of a device what its driver may say, by name, of its node or of all', async () => {
    const status = { devices: [{ driver: 'gpu.example.com', pool: 'p', device: 'd' }] };
    const refused = await patched('tess', status);
    expect(refused.body.details.causes).toEqual([
      {
        reason: 'FieldValueForbidden',
        field: 'status.devices',
        message:
          'Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "gpu.example.com" is forbidden: User "tess" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "shop"',
      },
    ]);
    await mayReport('other.example.com', 'other');
    expect((await patched('tess', status)).status).toBe(422);
    await mayReport('gpu.example.com', 'own');
    expect((await patched('tess', status)).body.status.devices).toHaveLength(1);
    const released = await patched('scheduler', { allocation: null });
    expect(released.status).toBe(200);
    expect(released.body.status ?? {}).not.toHaveProperty('devices');
  });

  async function mayReport(driver: string, name: string): Promise<void> {
    await made(`${RBAC}/namespaces/shop/roles`, {
      metadata: { name },
      rules: [
        {
          apiGroups: ['resource.k8s.io'],
          resources: ['resourceclaims/driver'],
          resourceNames: [driver],
          verbs: ['arbitrary-node:patch'],
        },
      ],
    });
    await made(`${RBAC}/namespaces/shop/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'User', name: 'tess' }],
    });
  }
});
