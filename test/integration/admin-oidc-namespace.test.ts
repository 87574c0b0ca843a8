import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { bearerToken, createHttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { Deployment, Event } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { DelegatedAccess } from '../../src/rollkeeper/admin/delegated-access/index.js';
import type { OidcOptions } from '../../src/rollkeeper/admin/oidc/index.js';
import { OidcSignIn, OpenIdProvider } from '../../src/rollkeeper/admin/oidc/index.js';
import { UserClients } from '../../src/rollkeeper/replica/user-clients.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import type { RunningApiServer } from './api-server-harness.js';
import { TOKEN, startApiServer } from './api-server-harness.js';
import { CLIENT_ID, TestIdentityProvider } from './support/identity-provider.js';
import type { Person } from './support/identity-provider.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';
const ELSEWHERE = { 'x-forwarded-for': '10.0.0.9' };
const LIMITED_TOKEN = 'of-a-replica-without-the-right-to-impersonate';
const BERTA = { sub: 'berta', groups: ['shop'] };

describe('a user of one namespace, signed in by an identity provider, whom the replica impersonates', () => {
  let api: RunningApiServer;
  let provider: TestIdentityProvider;
  let admin: HttpApiClient;
  let server: AdminServer;
  const closings: (() => Promise<unknown>)[] = [];
  const clock = new SystemClock();

  const connectionWith = (token: string) =>
    ({ serverUrl: api.url, tls: {}, credentials: bearerToken(token), source: 'test' }) as const;
  const clientWith = (token: string): HttpApiClient => {
    const client = createHttpApiClient({ connection: connectionWith(token), userAgent: 'test', clock });
    closings.push(() => client.close());
    return client;
  };

  const serve = async (token: string): Promise<AdminServer> => {
    const client = clientWith(token);
    const users = new UserClients({ connection: connectionWith(token), clock, logger: silentLogger });
    const oidc: { current?: OidcSignIn } = {};
    const ports = {
      ...anAdminPorts({ client: admin, clientAs: (who) => users.of(who) }),
      clock,
      delegated: new DelegatedAccess({ client: admin, clock, logger: silentLogger }),
    };
    const module = AdminModule.forRoot({
      ...{ health: new HealthRegistry(), metrics: createMetrics(), status: ports.status },
      ports: Object.defineProperty({ ...ports }, 'oidc', { get: () => oidc.current }),
    });
    const started = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
    const options: OidcOptions = {
      ...{ clientId: CLIENT_ID, scopes: ['openid'], rights: 'impersonate' },
      claims: {
        ...{ issuerUrl: provider.issuer, usernameClaim: 'sub', usernamePrefix: 'oidc:' },
        ...{ groupsClaim: 'groups', groupsPrefix: 'oidc:' },
      },
      redirectUri: `${started.url}/console/signed-in`,
    };
    oidc.current = new OidcSignIn({
      ...{ options, provider: new OpenIdProvider(options, clock), clock, secret: ADMIN_TOKEN },
    });
    closings.push(
      () => client.close(),
      () => users.close(),
      () => started.close(),
    );
    return started;
  };

  const bind = async (
    path: string,
    [kind, name]: readonly [kind: string, name: string],
    subject: readonly [kind: 'User' | 'Group', name: string],
  ): Promise<void> =>
    void (await api.call('POST', `${RBAC}/${path}`, {
      metadata: { name },
      roleRef: { apiGroup: GROUP, kind, name },
      subjects: [{ kind: subject[0], name: subject[1], apiGroup: GROUP }],
    }));

  beforeAll(async () => {
    api = await startApiServer({ users: [{ token: LIMITED_TOKEN, username: 'limited' }] });
    provider = await TestIdentityProvider.start({ clock });
    admin = clientWith(TOKEN);
    for (const namespace of ['shop', 'other']) {
      await api.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
      await api.call('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace } },
        spec: {
          ...{ replicas: 1, selector: { matchLabels: { app: 'web' } } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'web', image: 'web:1' }] },
          },
        },
      });
    }
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    await api.call('POST', `${RBAC}/namespaces/shop/roles`, { metadata: { name: 'team' }, rules: all });
    await bind('namespaces/shop/rolebindings', ['Role', 'team'], ['Group', 'oidc:shop']);
    const pages = [{ nonResourceURLs: ['/admin/*'], verbs: ['get', 'post'] }];
    await api.call('POST', `${RBAC}/clusterroles`, { metadata: { name: 'console' }, rules: pages });
    await bind('clusterrolebindings', ['ClusterRole', 'console'], ['Group', 'oidc:shop']);
    server = await serve(TOKEN);
  });
  afterAll(async () => {
    for (const close of closings.toReversed()) await close();
    await provider?.stop();
    await api?.stop();
  });

  const send = async (
    method: string,
    path: string,
    { body, of = server, session }: { body?: object; of?: AdminServer; session?: string } = {},
  ) => {
    const response = await fetch(of.url + path, {
      method,
      headers: {
        ...(session !== undefined && { authorization: `Bearer ${session}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...(path.includes('sign-in') ? {} : ELSEWHERE),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const signIn = async (person: Person, of = server): Promise<string> => {
    provider.person = person;
    const begun = await send('POST', '/admin/sign-in/oidc', { body: { returnTo: '' }, of });
    const { address, pending } = begun.body as { address: string; pending: string };
    const body = { pending, answer: provider.visit(address) };
    const signedIn = await send('POST', '/admin/sign-in/oidc/exchange', { body, of });
    return String(signedIn.body['session']);
  };
  const scale = (namespace: string, session: string, of = server) =>
    send('POST', `/admin/objects/deployments/${namespace}/web/scale`, { body: { replicas: 2 }, session, of });
  const replicasIn = async (namespace: string) =>
    (await admin.get<Deployment>(Deployment, { namespace, name: 'web' })).spec.replicas;

  it('sees the objects of that namespace by the name of the provider, and none of another', async () => {
    const session = await signIn(BERTA);
    expect((await send('GET', '/admin/objects/caller', { session })).body).toEqual({ user: 'oidc:berta' });
    const own = await send('GET', '/admin/objects/deployments/shop/web', { session });
    expect(own.status).toBe(200);
    const other = await send('GET', '/admin/objects/deployments/other/web', { session });
    expect(other).toMatchObject({ status: 403, body: { error: expect.stringContaining('oidc:berta') } });
    const all = await send('GET', '/admin/objects/deployments', { session });
    expect(JSON.stringify(all.body)).not.toContain('"other"');
  });

  it('acts there under that name, and nowhere else', async () => {
    const session = await signIn(BERTA);
    expect((await scale('shop', session)).status).toBe(200);
    expect(await replicasIn('shop')).toBe(2);
    const { items } = await admin.list(Event, { namespace: 'shop' });
    expect(items).toMatchObject([{ message: 'oidc:berta: scaled from 1 to 2' }]);
    expect((await scale('other', session)).status).toBe(403);
    expect(await replicasIn('other')).toBe(1);
  });

  it('sees and does nothing once the provider names the group no more', async () => {
    const session = await signIn({ sub: 'berta', groups: [] });
    expect(await send('GET', '/admin/objects/deployments/shop/web', { session })).toMatchObject({
      ...{ status: 403, body: { error: 'oidc:berta may not get /admin/objects/deployments/shop/web' } },
    });
    expect((await scale('shop', session)).status).toBe(403);
  });

  it('takes nobody else’s name along: headers that impersonate go no further', async () => {
    const session = await signIn(BERTA);
    const response = await fetch(`${server.url}/admin/objects/deployments/other/web`, {
      headers: {
        ...{ authorization: `Bearer ${session}`, ...ELSEWHERE },
        ...{ 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
      },
    });
    expect(response.status).toBe(403);
  });

  it('gets no rights of a replica that may not impersonate', async () => {
    const limited = await serve(LIMITED_TOKEN);
    const session = await signIn(BERTA, limited);
    const refused = await send('GET', '/admin/objects/deployments/shop/web', { session, of: limited });
    expect(refused).toMatchObject({
      ...{ status: 403, body: { error: expect.stringContaining('cannot impersonate') } },
    });
  });
});
