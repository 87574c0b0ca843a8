import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import type { AccessVerdict } from '../../src/rollkeeper/admin/delegated-access/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';

const ELSEWHERE = { 'x-forwarded-for': '10.0.0.9' };
const MINUTE_MS = 60_000;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

describe('a browser that signs in with a link', () => {
  let server: AdminServer;
  let clock: { advance(ms: number): Promise<void> };
  let logged: unknown[];
  const others: AdminServer[] = [];

  const serve = async (): Promise<AdminServer> => {
    const note = (...line: unknown[]) => void logged.push(line);
    const logger = { debug: note, info: note, warn: note, error: note, child: () => logger };
    const ports = anAdminPorts({
      logger,
      client: new FakeCluster(),
      clientAs: () => new FakeCluster(),
      delegated: {
        judge: async ({ token }): Promise<AccessVerdict> =>
          token === 'annas-token' ? { verdict: 'allowed', user: 'anna' } : { verdict: 'unauthenticated' },
      },
    });
    ({ clock } = ports);
    const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
    return startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
  };

  beforeEach(async () => {
    logged = [];
    server = await serve();
  });
  afterEach(async () => {
    await Promise.all([server, ...others.splice(0)].map((each) => each.close()));
  });

  /** Past fetch, which forbids some of these headers. */
  const send = (
    method: string,
    path: string,
    { body, headers = {}, of = server, token }: Sent = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(of.url);
      const given = {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      };
      const sent = httpRequest({ hostname, port, method, path, headers: given }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const parsed = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {};
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed });
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  interface Sent {
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly of?: AdminServer;
    readonly token?: string;
  }

  const codeFor = async (token: string): Promise<string> =>
    String((await send('POST', '/admin/sign-in', { token })).body['code']);
  const exchange = (code: string, more: Sent = {}) =>
    send('POST', '/admin/sign-in/exchange', { body: { code }, ...more });
  const sessionFor = async (token: string): Promise<string> =>
    String((await exchange(await codeFor(token))).body['session']);
  const callerOf = (session: string, more: Sent = {}) =>
    send('GET', '/admin/objects/caller', { token: session, headers: ELSEWHERE, ...more });

  it('acts with the rights of the token that the link was made with', async () => {
    expect((await callerOf(await sessionFor('annas-token'))).body).toEqual({ user: 'anna' });
    const asAdmin = await callerOf(await sessionFor(ADMIN_TOKEN));
    expect(asAdmin).toMatchObject({ status: 200, body: {} });
  });

  it('gets no session for a code that was used', async () => {
    const code = await codeFor(ADMIN_TOKEN);
    expect((await exchange(code)).status).toBe(200);
    const again = await exchange(code);
    expect(again.status).toBe(401);
    expect(again.body['error']).toContain('rollkeeper console');
    expect(again.body).not.toHaveProperty('session');
  });

  it('gets none for a code that is older than five minutes, nor for a guess', async () => {
    const code = await codeFor(ADMIN_TOKEN);
    await clock.advance(5 * MINUTE_MS);
    expect((await exchange(code)).status).toBe(401);
    for (const guess of ['x', '__proto__', 'a'.repeat(43)]) expect((await exchange(guess)).status).toBe(401);
    for (const body of [{}, { code: '' }, { code: 1 }, { code: 'x', more: 1 }, { code: 'a'.repeat(101) }, []])
      expect((await send('POST', '/admin/sign-in/exchange', { body })).status).toBe(400);
  });

  it('needs a token for the link, and a session makes no other one', async () => {
    expect((await send('POST', '/admin/sign-in')).status).toBe(401);
    expect((await send('POST', '/admin/sign-in', { token: 'wrong' })).status).toBe(401);
    const session = await sessionFor(ADMIN_TOKEN);
    expect((await send('POST', '/admin/sign-in', { token: session })).status).toBe(403);
  });

  it('is answered to no other site, whatever that knows', async () => {
    const code = await codeFor(ADMIN_TOKEN);
    const session = await sessionFor(ADMIN_TOKEN);
    const headers = { origin: 'https://evil.example.com' };
    expect((await exchange(code, { headers })).status).toBe(403);
    expect((await send('POST', '/admin/sign-in', { token: ADMIN_TOKEN, headers })).status).toBe(403);
    expect((await callerOf(session, { headers })).status).toBe(403);
    // The refused request has not used the code up.
    expect((await exchange(code)).status).toBe(200);
  });

  it('has nothing that a browser would send by itself: another site cannot act in its name', async () => {
    const answers = [
      await send('POST', '/admin/sign-in', { token: ADMIN_TOKEN }),
      await exchange(await codeFor(ADMIN_TOKEN)),
    ];
    for (const { headers } of answers) {
      expect(headers['set-cookie']).toBeUndefined();
      expect(headers['cache-control']).toBe('no-store');
    }
    const session = await sessionFor(ADMIN_TOKEN);
    const headers = { ...ELSEWHERE, cookie: `session=${session}; rollkeeper-token=${session}` };
    expect((await send('GET', '/admin/objects/caller', { headers })).status).toBe(401);
  });

  it('is shown in no frame, and runs no scripts but those of the page', async () => {
    const { headers } = await send('GET', '/console');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('is signed in at every replica that has the same admin token', async () => {
    const session = await sessionFor('annas-token');
    const other = await serve();
    others.push(other);
    expect((await callerOf(session, { of: other })).body).toEqual({ user: 'anna' });
  });

  it('finds its ended session refused as such, and is not counted as one who guesses', async () => {
    const session = await sessionFor(ADMIN_TOKEN);
    await clock.advance(12 * 60 * MINUTE_MS);
    const refused = await callerOf(session);
    expect(refused.body['error']).toContain('the session has ended');
    for (let count = 0; count < 30; count++) expect((await callerOf(session)).status).toBe(401);
    expect((await callerOf(await sessionFor(ADMIN_TOKEN))).status).toBe(200);
  });

  it('leaves neither code nor session nor token in the log', async () => {
    const code = await codeFor(ADMIN_TOKEN);
    const session = String((await exchange(code)).body['session']);
    await callerOf(session);
    const text = JSON.stringify(logged);
    expect(text).toContain('signed in');
    for (const secret of [code, session, ADMIN_TOKEN]) expect(text).not.toContain(secret);
  });
});
