import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JWK, JWTHeaderParameters } from 'jose';
import { UnsecuredJWT, exportJWK, generateKeyPair } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeClock } from '../../src/machinery/clock/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import type {
  AccessQuestion,
  AskingOne,
  UserInfo,
} from '../../src/rollkeeper/admin/delegated-access/index.js';
import type { OidcOptions, OidcRights } from '../../src/rollkeeper/admin/oidc/index.js';
import { OidcSignIn, OpenIdProvider } from '../../src/rollkeeper/admin/oidc/index.js';
import { SealedSessions } from '../../src/rollkeeper/admin/sign-in/index.js';
import { anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { makeTestCertificates } from '../../src/testing/api-client-certificates.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { CLIENT_ID, TestIdentityProvider } from './support/identity-provider.js';

const SECRET = 'what-replicas-have-in-common';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ELSEWHERE = { 'x-forwarded-for': '10.0.0.9' };
const HERE = '?find=ns%3Ashop#rollouts';

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly cookies: readonly string[];
}

interface Begun {
  readonly address: string;
  readonly pending: string;
}

describe('a browser that signs in by an identity provider', () => {
  let provider: TestIdentityProvider;
  let server: AdminServer;
  let clock: FakeClock;
  let folder: string;
  let logged: unknown[];
  let judged: AccessQuestion[];
  let askedAs: AskingOne[];
  const closings: (() => Promise<unknown>)[] = [];

  interface Served {
    readonly rights?: OidcRights;
    readonly options?: Partial<OidcOptions>;
    readonly by?: TestIdentityProvider;
    readonly secret?: string;
    /** The console of the first replica, where people come back to. */
    readonly consoleUrl?: string;
  }

  /** A replica; its console is where it is served, unless another one's is named. */
  const serve = async ({
    by = provider,
    consoleUrl,
    options,
    rights = 'impersonate',
    secret = SECRET,
  }: Served = {}) => {
    const note = (...line: unknown[]) => void logged.push(line);
    const logger = { debug: note, info: note, warn: note, error: note, child: () => logger };
    const oidc: { current?: OidcSignIn } = {};
    const ports = anAdminPorts({
      logger,
      token: secret,
      client: new FakeCluster(),
      clientAs: (who) => {
        askedAs.push(who);
        return new FakeCluster();
      },
      delegated: {
        judge: async (question) => {
          judged.push(question);
          const isJwt = question.token?.split('.').length === 3;
          if (!question.user && !isJwt) return { verdict: 'unauthenticated' };
          return { verdict: 'allowed', user: question.user?.username ?? 'whoever-the-api-says' };
        },
      },
    });
    const all = Object.defineProperty({ ...ports }, 'oidc', { get: () => oidc.current });
    ({ clock } = ports);
    const module = AdminModule.forRoot({
      ...{ health: new HealthRegistry(), metrics: createMetrics(), status: ports.status },
      ports: all,
    });
    const started = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
    const used: OidcOptions = {
      ...{ clientId: CLIENT_ID, scopes: ['openid'], rights },
      claims: { issuerUrl: by.issuer, usernameClaim: 'sub', usernamePrefix: '-', groupsClaim: 'groups' },
      redirectUri: `${consoleUrl ?? started.url}/console/signed-in`,
      ...options,
    };
    oidc.current = new OidcSignIn({
      ...{ options: used, provider: new OpenIdProvider(used, clock), clock, secret },
    });
    closings.push(() => started.close());
    return started;
  };

  beforeEach(async () => {
    logged = [];
    judged = [];
    askedAs = [];
    folder = mkdtempSync(join(tmpdir(), 'oidc-'));
    ({ clock } = anAdminPorts());
    provider = await TestIdentityProvider.start({ clock: { now: () => clock.now() } });
    closings.push(() => provider.stop());
    server = await serve();
  });
  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
    rmSync(folder, { recursive: true });
  });

  const send = async (
    method: string,
    path: string,
    { body, headers = {}, of = server, token }: Sent = {},
  ): Promise<Answer> => {
    const response = await fetch(of.url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {};
    return { status: response.status, body: parsed, cookies: response.headers.getSetCookie() };
  };
  interface Sent {
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly of?: AdminServer;
    readonly token?: string;
  }

  const begin = async (returnTo = HERE, of = server): Promise<Begun> =>
    (await send('POST', '/admin/sign-in/oidc', { body: { returnTo }, of })).body as unknown as Begun;
  const exchange = (pending: string, answer: string, of = server) =>
    send('POST', '/admin/sign-in/oidc/exchange', { body: { pending, answer }, of });
  const signIn = async (of = server): Promise<Answer> => {
    const { address, pending } = await begin(HERE, of);
    return exchange(pending, provider.visit(address), of);
  };
  const callerOf = (session: unknown, of = server) =>
    send('GET', '/admin/objects/caller', { token: String(session), headers: ELSEWHERE, of });

  it('acts as the user whom the provider names, in the groups that it names, and comes back to its view', async () => {
    provider.person = { sub: 'anna', groups: ['shop', 'sre'] };
    const signedIn = await signIn();
    expect(signedIn).toMatchObject({ status: 200, body: { returnTo: HERE } });
    expect((await callerOf(signedIn.body['session'])).body).toEqual({ user: 'anna' });
    expect(judged).toMatchObject([{ user: { username: 'anna', groups: ['shop', 'sre'] }, verb: 'get' }]);
    await send('GET', '/admin/objects/pods', { token: String(signedIn.body['session']) });
    expect(askedAs.at(-1)).toEqual({ user: { username: 'anna', groups: ['shop', 'sre'] } });
  });

  it('passes its ID token to the API server where that is asked for, and nothing is impersonated', async () => {
    const passing = await serve({ rights: 'token' });
    const { body } = await signIn(passing);
    await send('GET', '/admin/objects/pods', { token: String(body['session']), of: passing });
    const [{ token = '' } = {}] = judged;
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      ...{ sub: 'anna', aud: CLIENT_ID, iss: provider.issuer },
    });
    expect(askedAs).toEqual([{ token }]);
  });

  it('is told nothing that a browser would send by itself, and shows its secrets to nobody', async () => {
    provider.renews = true;
    const { address, pending } = await begin();
    const answer = provider.visit(address);
    const signedIn = await exchange(pending, answer);
    const { renewal, session } = signedIn.body as Record<string, string>;
    await callerOf(session);
    expect(signedIn.cookies).toEqual([]);
    const { searchParams } = new URL(address);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    const text = JSON.stringify(logged);
    expect(text).toContain('signed in');
    for (const secret of [pending, answer, session, renewal]) expect(text).not.toContain(secret);
    // The browser keeps what it cannot read.
    const kept = Buffer.from(`${pending}${session}${renewal}`, 'base64url').toString('latin1');
    for (const readable of ['anna', 'nonce', 'verifier', 'refresh']) expect(kept).not.toContain(readable);
  });

  it('can end at any replica that has the same admin token, and at no other', async () => {
    const second = await serve({ consoleUrl: server.url });
    const stranger = await serve({ consoleUrl: server.url, secret: 'the-secret-of-another-installation' });
    const { address, pending } = await begin();
    const answer = provider.visit(address);
    expect((await exchange(pending, answer, stranger)).status).toBe(401);
    const { body, status } = await exchange(pending, answer, second);
    expect(status).toBe(200);
    expect((await callerOf(body['session'])).body).toEqual({ user: 'anna' });
    expect((await callerOf(body['session'], stranger)).status).toBe(401);
  });

  it('signs in with a client secret, and with an authority of its own', async () => {
    const pki = await makeTestCertificates();
    const own = await TestIdentityProvider.start({ clock, tls: pki.server, clientSecret: 'shared: with/it' });
    closings.push(() => own.stop());
    const [clientSecretFile, caFile] = [join(folder, 'secret'), join(folder, 'ca.crt')];
    writeFileSync(clientSecretFile, 'shared: with/it\n', { mode: 0o600 });
    writeFileSync(caFile, pki.ca);
    const trusting = await serve({ by: own, options: { clientSecretFile, caFile } });
    const { address, pending } = await begin(HERE, trusting);
    expect(await exchange(pending, own.visit(address), trusting)).toMatchObject({ status: 200 });
    const doubting = await serve({ by: own, options: { clientSecretFile } });
    const refused = await send('POST', '/admin/sign-in/oidc', { body: { returnTo: '' }, of: doubting });
    expect(refused.status).toBe(503);
    expect(refused.body['error']).toMatch(/identity provider does not answer.*certificate/);
    writeFileSync(clientSecretFile, 'another\n');
    const again = await begin(HERE, trusting);
    const wrong = await exchange(again.pending, own.visit(again.address), trusting);
    expect(wrong).toMatchObject({ status: 401, body: { error: expect.stringContaining('invalid_client') } });
  });

  describe('is not signed in', () => {
    it('by an answer that was used, even where the provider would take it twice', async () => {
      provider.isLax = true;
      const { address, pending } = await begin();
      const answer = provider.visit(address);
      expect((await exchange(pending, answer)).status).toBe(200);
      const again = await exchange(pending, answer);
      expect(again).toMatchObject({ status: 401, body: { error: expect.stringContaining('was used') } });
      expect(again.body).not.toHaveProperty('session');
    });

    it('by a code that was used with another replica, which the provider refuses', async () => {
      const second = await serve({ consoleUrl: server.url });
      const { address, pending } = await begin();
      const answer = provider.visit(address);
      expect((await exchange(pending, answer)).status).toBe(200);
      const again = await exchange(pending, answer, second);
      expect(again).toMatchObject({ status: 401, body: { error: expect.stringContaining('invalid_grant') } });
    });

    it('by the answer to somebody else’s sign-in: the state is that of the tab, and so is the verifier', async () => {
      const [mine, theirs] = [await begin(), await begin()];
      const { status } = await exchange(mine.pending, provider.visit(theirs.address));
      expect(status).toBe(401);
      // A code that was caught, with the state of the tab.
      const own = await begin();
      const code = new URLSearchParams(provider.visit((await begin()).address)).get('code') ?? '';
      const state = new URL(own.address).searchParams.get('state') ?? '';
      const mixed = await exchange(own.pending, String(new URLSearchParams({ code, state })));
      expect(mixed).toMatchObject({ status: 401, body: { error: expect.stringContaining('invalid_grant') } });
    });

    it('without what the tab keeps, with something made up, or after ten minutes', async () => {
      const { address, pending } = await begin();
      const answer = provider.visit(address);
      for (const madeUp of [
        'rkp1.',
        'x',
        pending.slice(0, -3),
        `${pending}A`,
        pending.replace('rkp1', 'rkc1'),
      ])
        expect((await exchange(madeUp, answer)).status).toBe(401);
      await clock.advance(10 * MINUTE_MS);
      expect((await exchange(pending, answer)).status).toBe(401);
      for (const body of [
        {},
        { pending },
        { answer },
        { pending: '', answer },
        { pending, answer, more: 1 },
        [],
      ])
        expect((await send('POST', '/admin/sign-in/oidc/exchange', { body })).status).toBe(400);
    });

    it('if the provider says no, in its words', async () => {
      const { address, pending } = await begin();
      const state = new URL(address).searchParams.get('state') ?? '';
      const answer = String(
        new URLSearchParams({ error: 'access_denied', error_description: 'not in the team', state }),
      );
      const { body, status } = await exchange(pending, answer);
      expect({ status, error: body['error'] }).toEqual({
        status: 401,
        error: 'the identity provider refuses: access_denied: not in the team',
      });
    });

    /** By a key that is not the provider's, with a header that is made of it. */
    const forgedWithOwnKey = async (
      header: (jwk: JWK) => Partial<JWTHeaderParameters>,
    ): Promise<TestIdentityProvider['forge']> => {
      const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
      const fields = header(await exportJWK(publicKey));
      return { token: (claims) => provider.signAs(fields, claims, privateKey) };
    };

    it.each<[what: string, forge: () => Promise<TestIdentityProvider['forge']>]>([
      ['another nonce', async () => ({ claims: (usual) => ({ ...usual, nonce: 'another' }) })],
      ['no nonce', async () => ({ claims: ({ nonce: _nonce, ...usual }) => usual })],
      ['another issuer', async () => ({ claims: (usual) => ({ ...usual, iss: 'https://evil.example' }) })],
      ['another audience', async () => ({ claims: (usual) => ({ ...usual, aud: 'another-client' }) })],
      [
        'another party beside its own audience',
        async () => ({ claims: (usual) => ({ ...usual, aud: [CLIENT_ID, 'other'], azp: 'other' }) }),
      ],
      [
        'an expiry that is past',
        async () => ({ claims: (usual) => ({ ...usual, exp: Number(usual.iat) - 60 }) }),
      ],
      ['no expiry', async () => ({ claims: ({ exp: _exp, ...usual }) => usual })],
      ['no subject', async () => ({ claims: ({ sub: _sub, ...usual }) => usual })],
      [
        'no signature (alg none)',
        async () => ({ token: async (claims) => new UnsecuredJWT(claims).encode() }),
      ],
      [
        'a signature by another key',
        async () => {
          const { privateKey } = await generateKeyPair('RS256');
          return { token: (claims) => provider.sign(claims, privateKey) };
        },
      ],
      [
        'a signature that was cut off',
        async () => ({ token: async (claims) => (await provider.sign(claims)).replace(/\.[^.]*$/, '.') }),
      ],
      [
        'a signature by the public key as a secret (HS256)',
        async () => {
          const secret = Buffer.from(await provider.publicKey());
          return { token: (claims) => provider.signAs({ alg: 'HS256' }, claims, secret) };
        },
      ],
      ['a key that it brings along (jwk)', () => forgedWithOwnKey((jwk) => ({ jwk }))],
      [
        'the address of its own keys (jku)',
        () => forgedWithOwnKey(() => ({ jku: `${provider.issuer}/foreign-keys` })),
      ],
      ['a path as the name of its key', () => forgedWithOwnKey(() => ({ kid: '../../../../dev/null' }))],
      ['the name of no key', () => forgedWithOwnKey(() => ({ kid: 'another' }))],
      [
        'fields in its header that must be understood (crit)',
        async () => ({
          token: (claims) => provider.signAs({ crit: ['b64'], b64: true }, claims),
        }),
      ],
      [
        'a time before which it is not valid',
        async () => ({ claims: (usual) => ({ ...usual, nbf: Number(usual.iat) + 3600 }) }),
      ],
      ['no form of a token', async () => ({ token: async () => 'not-a-token' })],
    ])('by an ID token with %s', async (_what, forge) => {
      provider.forge = await forge();
      const { body, status } = await signIn();
      expect(status).toBe(401);
      expect(body).not.toHaveProperty('session');
      expect(String(body['error'])).toContain('identity provider');
      expect(provider.requests).not.toContain('GET /foreign-keys');
    });

    it('by an answer of more bytes than anything is that a provider says', async () => {
      provider.forge = { token: async () => 'x'.repeat(2 * 1024 * 1024) };
      const { body, status } = await signIn();
      expect(status).toBe(401);
      expect(body['error']).toContain('has more than 1048576 bytes');
    });

    it.each([
      ['a user of the cluster’s own', { sub: 'system:admin' }],
      ['a service account', { sub: 'system:serviceaccount:kube-system:root' }],
      ['a member of the group of administrators', { sub: 'anna', groups: ['shop', 'system:masters'] }],
      ['a name that breaks a header', { sub: 'anna\r\nImpersonate-Group: system:masters' }],
    ])('as %s', async (_what, person) => {
      provider.person = person;
      expect((await signIn()).status).toBe(401);
      expect(askedAs).toEqual([]);
    });

    it('if the provider is broken or away, which is said as such', async () => {
      const { address, pending } = await begin();
      const answer = provider.visit(address);
      provider.broken = (response) => void response.writeHead(500).end('oops');
      expect((await exchange(pending, answer)).status).toBe(503);
      const next = await serve();
      provider.broken = (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
      expect((await send('POST', '/admin/sign-in/oidc', { body: { returnTo: '' }, of: next })).status).toBe(
        503,
      );
      provider.broken = (response) => void response.destroy();
      expect((await send('POST', '/admin/sign-in/oidc', { body: { returnTo: '' }, of: next })).status).toBe(
        503,
      );
      provider.broken = undefined;
      expect((await begin(HERE, next)).pending).toBeDefined();
    });
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/console',
    '\\\\evil.example',
    'javascript:alert(1)',
    'x?y',
    '?a\n#b',
    `?${'a'.repeat(2001)}`,
  ])('is sent to no address but a view of the console: %j', async (returnTo) => {
    expect((await send('POST', '/admin/sign-in/oidc', { body: { returnTo } })).status).toBe(400);
  });

  it('begins only where the provider sends it back to, and is told where that is', async () => {
    const second = await serve({ consoleUrl: server.url });
    const { body, status } = await send('POST', '/admin/sign-in/oidc', {
      body: { returnTo: '' },
      of: second,
    });
    expect({ status, body }).toEqual({
      status: 409,
      body: { error: `people sign in at ${server.url}/console`, consoleUrl: server.url },
    });
    expect(provider.requests).toEqual([]);
  });

  it('is answered to no other site', async () => {
    const headers = { origin: 'https://evil.example' };
    const { address, pending } = await begin();
    const answer = provider.visit(address);
    for (const [path, body] of [
      ['', { returnTo: '' }],
      ['/exchange', { pending, answer }],
      ['/renew', { renewal: 'x' }],
      ['/end', { renewal: 'x' }],
    ] as const)
      expect((await send('POST', `/admin/sign-in/oidc${path}`, { body, headers })).status).toBe(403);
    // The refused request has used nothing up.
    expect((await exchange(pending, answer)).status).toBe(200);
  });

  it('cannot be used where no provider is named', async () => {
    const ports = anAdminPorts();
    const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
    const plain = await startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
    closings.push(() => plain.close());
    expect((await send('GET', '/console/sign-in-ways', { of: plain })).body).toEqual({});
    expect((await send('POST', '/admin/sign-in/oidc', { body: { returnTo: '' }, of: plain })).status).toBe(
      404,
    );
    const { body } = await send('GET', '/console/sign-in-ways', { headers: ELSEWHERE });
    expect(body).toEqual({ oidc: { issuerUrl: provider.issuer } });
  });

  describe('has a session that', () => {
    it('ends with the ID token where the provider gives nothing to renew it with', async () => {
      const { body } = await signIn();
      expect(body).not.toHaveProperty('renewal');
      await clock.advance(5 * MINUTE_MS - 1);
      expect((await callerOf(body['session'])).status).toBe(200);
      await clock.advance(1);
      expect((await callerOf(body['session'])).status).toBe(401);
    });

    const renew = (renewal: unknown) =>
      send('POST', '/admin/sign-in/oidc/renew', { body: { renewal: String(renewal) } });

    it('is renewed with the groups of that moment, and for twelve hours at most', async () => {
      provider.renews = true;
      provider.person = { sub: 'anna', groups: ['sre'] };
      let { body } = await signIn();
      const endsMs = clock.now() + 12 * HOUR_MS;
      provider.forge = { claims: (usual) => ({ ...usual, groups: ['shop'] }) };
      await clock.advance(4 * MINUTE_MS);
      ({ body } = await renew(body['renewal']));
      await callerOf(body['session']);
      expect(judged.at(-1)).toMatchObject({ user: { username: 'anna', groups: ['shop'] } });
      await clock.advance(endsMs - clock.now() - 2 * MINUTE_MS);
      ({ body } = await renew(body['renewal']));
      expect(Date.parse(String(body['ends']))).toBe(endsMs);
      await clock.advance(2 * MINUTE_MS);
      expect((await callerOf(body['session'])).status).toBe(401);
      expect((await renew(body['renewal'])).status).toBe(401);
    });

    it('is renewed once with each renewal, by nobody else, and for nobody else', async () => {
      provider.renews = true;
      const { body } = await signIn();
      for (const madeUp of ['x', 'rkr1.x', body['session'], `${String(body['renewal'])}A`])
        expect((await renew(madeUp)).status).toBe(401);
      // A session renews nothing, and a renewal is no session.
      expect((await callerOf(body['renewal'])).status).toBe(401);
      provider.forge = { claims: (usual) => ({ ...usual, sub: 'berta' }) };
      const other = await renew(body['renewal']);
      expect(other).toMatchObject({ status: 401, body: { error: expect.stringContaining('another user') } });
      provider.forge = {};
      expect((await renew(body['renewal'])).status).toBe(401);
    });

    it('is renewed no more when the person has signed out', async () => {
      provider.renews = true;
      const { body } = await signIn();
      const renewal = String(body['renewal']);
      const ended = await send('POST', '/admin/sign-in/oidc/end', { body: { renewal } });
      expect(ended.status).toBe(204);
      expect(provider.requests).toContain('POST /revoke');
      expect((await renew(renewal)).status).toBe(401);
    });

    it('is none of the cluster’s own, and none where users are not impersonated, although the admin token has sealed it', async () => {
      const sealing = new SealedSessions(clock, SECRET);
      const sealed = (user: UserInfo) => sealing.seal({ user }).session;
      expect((await callerOf(sealed({ username: 'anna' }))).status).toBe(200);
      for (const user of [
        { username: 'system:admin' },
        { username: 'anna', groups: ['shop', 'system:masters'] },
      ])
        expect((await callerOf(sealed(user))).status).toBe(401);
      const passing = await serve({ rights: 'token' });
      expect((await callerOf(sealed({ username: 'anna' }), passing)).status).toBe(401);
    });

    it('makes no other session, as none does', async () => {
      const { body } = await signIn();
      expect((await send('POST', '/admin/sign-in', { token: String(body['session']) })).status).toBe(401);
    });
  });
});
