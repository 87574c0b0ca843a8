import { KeyObject, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { createAuthority, loadAuthority } from '../../src/tls/certificates.js';
import type { Authority } from '../../src/tls/certificates.js';
import { X509CertificateGenerator } from '@peculiar/x509';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiAnswer, Body, RunningApiServer } from './api-server-harness.js';
import { aDeployment, podBody, startApiServer } from './api-server-harness.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';
const ACCOUNTS = '/api/v1/namespaces/shop/serviceaccounts';

async function certificateOf(authority: Authority, subject: string) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create(
    {
      subject,
      issuer: authority.certificate.subject,
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: authority.keys.privateKey,
    },
    webcrypto,
  );
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }) as string;
  return { cert: certificate.toString('pem'), key };
}

describe('rights', () => {
  let server: RunningApiServer;

  beforeAll(async () => {
    server = await startApiServer({
      tls: true,
      users: [
        { token: 'janes-token', username: 'jane', groups: ['dev'] },
        { token: 'bobs-token', username: 'bob' },
      ],
    });
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await server.call('POST', `${RBAC}/namespaces/shop/rolebindings`, {
      metadata: { name: 'dev' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'Group', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' }],
    });
  });
  afterAll(() => server.stop());

  const as = (token: string) => ({
    call: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      server.call(method, path, body, { authorization: `Bearer ${token}`, ...headers }),
  });
  const jane = as('janes-token');
  const bob = as('bobs-token');
  const refusal = ({ body, status }: ApiAnswer) => ({ status, message: body.message as string });

  async function account(name: string): Promise<void> {
    expect((await server.call('POST', ACCOUNTS, { metadata: { name } })).status).toBe(201);
  }

  async function tokenOf(name: string, spec: object = {}): Promise<string> {
    const { body, status } = await server.call('POST', `${ACCOUNTS}/${name}/token`, { spec });
    expect(status).toBe(201);
    return body.status.token as string;
  }

  it.each([undefined, null, {}, { kind: 'Role' }, { name: 'edit' }, { kind: 'Foo', name: 'edit' }])(
    'is told what a binding lacks whose role is %j',
    async (roleRef) => {
      const { body: role } = await server.call('POST', `${RBAC}/namespaces/shop/roles`, {
        metadata: { generateName: 'binder-' },
        rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['create'] }],
      });
      const { name } = role.metadata as { name: string };
      await server.call('POST', `${RBAC}/namespaces/shop/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
      });
      const answer = await bob.call('POST', `${RBAC}/namespaces/shop/rolebindings`, {
        metadata: { name: 'x' },
        roleRef,
      });
      const expected = roleRef && 'kind' in roleRef && roleRef.kind === 'Foo' ? 404 : 422;
      expect(answer.status).toBe(expected);
      await server.call('DELETE', `${RBAC}/namespaces/shop/rolebindings/${name}`);
    },
  );

  it('does what their roles say, where they say it', async () => {
    expect((await jane.call('POST', DEPLOYMENTS, aDeployment('web'))).status).toBe(201);
    expect(
      (
        await jane.call('PATCH', `${DEPLOYMENTS}/web`, '{"metadata":{"labels":{"a":"b"}}}', {
          'content-type': 'application/merge-patch+json',
        })
      ).status,
    ).toBe(200);
    expect(refusal(await jane.call('GET', '/apis/apps/v1/deployments'))).toEqual({
      status: 403,
      message:
        'deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" at the cluster scope',
    });
    const { body, status } = await bob.call('DELETE', `${DEPLOYMENTS}/web`);
    expect(status).toBe(403);
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'deployments.apps "web" is forbidden: User "bob" cannot delete resource "deployments" in API group "apps" in the namespace "shop"',
      reason: 'Forbidden',
      details: { name: 'web', group: 'apps', kind: 'deployments' },
      code: 403,
    });
  });

  it('finds the API, and learns about themselves, when they are known', async () => {
    for (const path of ['/api', '/apis', '/apis/apps/v1', '/openapi/v3', '/version'])
      expect((await bob.call('GET', path)).status, path).toBe(200);
    const { body } = await bob.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect(body.status.userInfo).toEqual({ username: 'bob', groups: ['system:authenticated'] });
    expect(refusal(await bob.call('GET', '/metrics'))).toEqual({
      status: 403,
      message: 'forbidden: User "bob" cannot get path "/metrics"',
    });
  });

  it('is nobody without credentials, and is let in nowhere with wrong ones', async () => {
    expect(refusal(await server.call('GET', '/api', undefined, { authorization: '' }))).toEqual({
      status: 403,
      message: 'forbidden: User "system:anonymous" cannot get path "/api"',
    });
    expect((await as('guess').call('GET', '/api')).status).toBe(401);
    expect((await as('guess').call('GET', '/readyz')).status).toBe(200);
  });

  it('may no more as soon as the binding is gone', async () => {
    const rule = { apiGroups: [''], resources: ['nodes'], verbs: ['list'] };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'nodes' };
    const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }];
    for (let round = 0; round < 5; round++) {
      await server.call('POST', `${RBAC}/clusterroles`, { metadata: { name: 'nodes' }, rules: [rule] });
      await server.call('POST', `${RBAC}/clusterrolebindings`, {
        metadata: { name: 'b' },
        roleRef,
        subjects,
      });
      expect((await bob.call('GET', '/api/v1/nodes')).status).toBe(200);
      await server.call('DELETE', `${RBAC}/clusterroles/nodes`);
      expect((await bob.call('GET', '/api/v1/nodes')).body.message).toContain(
        'RBAC: clusterrole.rbac.authorization.k8s.io "nodes" not found',
      );
      await server.call('DELETE', `${RBAC}/clusterrolebindings/b`);
      expect((await bob.call('GET', '/api/v1/nodes')).status).toBe(403);
    }
  });

  it('gives away no more than they have, by create, update, patch and apply', async () => {
    const admin = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' };
    const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }];
    const bindings = `${RBAC}/namespaces/shop/rolebindings`;
    await server.call('POST', bindings, { metadata: { name: 'bob' }, roleRef: admin, subjects });
    const roles = `${RBAC}/namespaces/shop/roles`;
    const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
    const nodes = { apiGroups: [''], resources: ['nodes'], verbs: ['get'] };
    const role = (name: string, rule: object): Body => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name },
      rules: [rule],
    });
    const missing =
      'user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}';
    const forbidden = (name: string) => ({
      status: 403,
      message: `roles.rbac.authorization.k8s.io "${name}" is forbidden: ${missing}`,
    });
    expect((await bob.call('POST', roles, role('r', pods))).status).toBe(201);
    expect(refusal(await bob.call('POST', roles, role('s', nodes)))).toEqual(forbidden('s'));
    expect(refusal(await bob.call('PUT', `${roles}/r`, role('r', nodes)))).toEqual(forbidden('r'));
    const merge = { 'content-type': 'application/merge-patch+json' };
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    expect(refusal(await bob.call('PATCH', `${roles}/r`, { rules: [nodes] }, merge))).toEqual(forbidden('r'));
    const applied = await bob.call('PATCH', `${roles}/s?fieldManager=x`, role('s', nodes), apply);
    expect(refusal(applied)).toEqual(forbidden('s'));
    const root = { ...admin, name: 'cluster-admin' };
    const bound = await bob.call('POST', bindings, { metadata: { name: 'root' }, roleRef: root, subjects });
    expect(refusal(bound)).toMatchObject({
      status: 403,
      message: expect.stringContaining('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'),
    });
    await server.call('DELETE', `${bindings}/bob`);
  });

  it('creates nothing by an update or a patch without the right to create', async () => {
    const rule = {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['patch', 'update', 'get'],
    };
    await server.call('POST', `${RBAC}/namespaces/shop/roles`, {
      metadata: { name: 'leases' },
      rules: [rule],
    });
    await server.call('POST', `${RBAC}/namespaces/shop/rolebindings`, {
      metadata: { name: 'leases' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'leases' },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } };
    const path = '/apis/coordination.k8s.io/v1/namespaces/shop/leases/l';
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    for (const answer of [
      await bob.call('PUT', path, lease),
      await bob.call('PATCH', `${path}?fieldManager=x`, lease, apply),
    ])
      expect(refusal(answer)).toMatchObject({
        status: 403,
        message: expect.stringContaining('User "bob" cannot create resource "leases"'),
      });
  });

  it('acts as somebody else only when that is allowed', async () => {
    const asJane = { 'impersonate-user': 'jane', 'impersonate-group': 'dev' };
    expect((await server.call('GET', DEPLOYMENTS, undefined, asJane)).status).toBe(200);
    expect((await server.call('GET', '/api/v1/nodes', undefined, asJane)).status).toBe(403);
    expect(refusal(await bob.call('GET', DEPLOYMENTS, undefined, asJane))).toEqual({
      status: 403,
      message:
        'users "jane" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope',
    });
    const master = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' };
    expect((await bob.call('GET', '/api/v1/nodes', undefined, master)).status).toBe(403);
  });

  it('is known by a client certificate of the authority, and by no other', async () => {
    const statusWith = async (authority: Authority, subject: string): Promise<number> => {
      const ca = await readFile(join(server.dir, 'ca.crt'), 'utf8');
      const dispatcher = new Agent({ connect: { ca, ...(await certificateOf(authority, subject)) } });
      const { status } = await fetch(server.url + DEPLOYMENTS, { dispatcher });
      await dispatcher.close();
      return status;
    };
    const [cert, key] = await Promise.all(
      ['ca.crt', 'ca.key'].map((file) => readFile(join(server.dir, file), 'utf8')),
    );
    const own = await loadAuthority({ cert: cert!, key: key! });
    expect(await statusWith(own, 'CN=eve, O=dev')).toBe(200);
    expect(await statusWith(own, 'CN=eve, O=others')).toBe(403);
    expect(await statusWith(await createAuthority(Date.now()), 'CN=eve, O=system:masters')).toBe(403);
  });

  it('is a service account by a token of it, for as long as the account and the pod are there', async () => {
    await account('app');
    await account('other');
    const pod = podBody('app-1');
    pod.spec.serviceAccountName = 'app';
    await server.call('POST', '/api/v1/namespaces/shop/pods', pod);
    const bound = await tokenOf('app', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'app-1' } });
    const free = await tokenOf('app', { expirationSeconds: 600 });
    const elsewhere = await tokenOf('app', { audiences: ['vault'] });
    const who = async (token: string) => {
      const { body, status } = await as(token).call(
        'POST',
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        {},
      );
      return status === 201 ? body.status.userInfo : status;
    };
    expect(await who(bound)).toMatchObject({
      username: 'system:serviceaccount:shop:app',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/pod-name': ['app-1'] },
    });
    expect(await who(elsewhere)).toBe(401);
    expect(refusal(await as(free).call('GET', DEPLOYMENTS)).message).toContain(
      'User "system:serviceaccount:shop:app" cannot list resource "deployments"',
    );
    const review = async (token: string, audiences?: string[]) =>
      (
        await server.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
          spec: { token, audiences },
        })
      ).body.status;
    expect(await review(elsewhere, ['vault', 'x'])).toMatchObject({
      authenticated: true,
      audiences: ['vault'],
    });
    expect(await review(elsewhere)).toEqual({ user: {}, error: 'invalid bearer token' });
    await server.call('DELETE', '/api/v1/namespaces/shop/pods/app-1?gracePeriodSeconds=0');
    expect(await who(bound)).toBe(401);
    expect(await who(free)).toMatchObject({ username: 'system:serviceaccount:shop:app' });
    await server.call('DELETE', `${ACCOUNTS}/app`);
    expect(await who(free)).toBe(401);
  });

  it('is refused a token in the words of a genuine server', async () => {
    const ask = async (spec: object, name = 'default') =>
      refusal(await server.call('POST', `${ACCOUNTS}/${name}/token`, { spec }));
    expect(await ask({}, 'nobody')).toEqual({ status: 404, message: 'serviceaccounts "nobody" not found' });
    expect(await ask({ expirationSeconds: 599 })).toEqual({
      status: 422,
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    });
    const pod = { apiVersion: 'v1', kind: 'Pod', name: 'lost' };
    expect(await ask({ boundObjectRef: pod })).toEqual({ status: 404, message: 'pods "lost" not found' });
    expect((await ask({ boundObjectRef: { ...pod, kind: 'Service' } })).status).toBe(400);
    const other = { metadata: { uid: 'b' }, spec: {} };
    const { uid } = (await server.call('GET', `${ACCOUNTS}/default`)).body.metadata;
    expect(refusal(await server.call('POST', `${ACCOUNTS}/default/token`, other))).toEqual({
      status: 409,
      message: `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "default": the UID in the token request (b) does not match the UID of the service account (${uid})`,
    });
    const { body } = await server.call('POST', `${ACCOUNTS}/default/token`, { metadata: { uid }, spec: {} });
    expect(body).toMatchObject({
      kind: 'TokenRequest',
      metadata: { name: 'default', namespace: 'shop' },
      spec: { audiences: ['https://kubernetes.default.svc.cluster.local'], expirationSeconds: 3600 },
    });
  });

  it('gets from an aggregated role what others bring into it', async () => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const rules = [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['list'] }];
    await server.call('POST', `${RBAC}/clusterroles`, { metadata: { name: 'things', labels }, rules });
    const hasThings = async (role: string): Promise<boolean> => {
      const { body } = await server.call('GET', `${RBAC}/clusterroles/${role}`);
      return (body.rules as Body[]).some(({ resources }) => resources?.includes('things'));
    };
    // By way of view into edit, and on into admin.
    await expect.poll(() => hasThings('admin'), { timeout: 20_000 }).toBe(true);
    await server.call('DELETE', `${RBAC}/clusterroles/things`);
    await expect.poll(() => hasThings('admin'), { timeout: 20_000 }).toBe(false);
  });

  it('finds what a server makes itself', async () => {
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
      expect((await server.call('GET', `/api/v1/namespaces/${namespace}`)).status).toBe(200);
    const { body: service } = await server.call('GET', '/api/v1/namespaces/default/services/kubernetes');
    expect(service.spec.clusterIP).toBe('10.96.0.1');
    const { body: classes } = await server.call('GET', '/apis/scheduling.k8s.io/v1/priorityclasses');
    expect(classes.items.map(({ metadata }: Body) => metadata.name as string)).toEqual([
      'system-cluster-critical',
      'system-node-critical',
    ]);
    const { headers, text } = await server.call('GET', '/openid/v1/jwks');
    expect(headers.get('content-type')).toBe('application/jwk-set+json');
    expect((JSON.parse(text) as { keys: unknown[] }).keys).toHaveLength(1);
    const asJson = { accept: 'application/json' };
    expect((await server.call('GET', '/openid/v1/jwks', undefined, asJson)).status).toBe(406);
  });
});
