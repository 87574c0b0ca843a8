import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';

describe('the admin server', () => {
  let server: AdminServer;
  let redisIsUp: boolean;
  let note: string | undefined;

  beforeEach(async () => {
    redisIsUp = true;
    const health = new HealthRegistry();
    health.add('livez', { name: 'ping', check: () => undefined });
    health.add('readyz', {
      name: 'redis',
      check: () => {
        if (!redisIsUp) throw new Error('secret address refused');
      },
    });
    note = undefined;
    health.add('readyz', { name: 'informers-synced', check: () => note });
    const status = { identity: 'replica-1', version: '0', leader: true, controllers: [], informers: [] };
    const module = AdminModule.forRoot({
      health,
      metrics: createMetrics(),
      status: {
        status: () => Promise.resolve(status),
        leadership: () => ({
          leader: true,
          leaderIdentity: 'replica-1_x',
          epoch: 2,
          lock: 'memory lease',
          transitions: [
            { who: 'replica-1_x', epoch: 2, why: 'started leading', at: '2020-01-01T00:00:00.000000Z' },
          ],
        }),
      },
      ports: anAdminPorts(),
    });
    server = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
  });

  afterEach(() => server.close());

  const read = async (path: string, accept = '*/*') => {
    const response = await fetch(server.url + path, { headers: { accept } });
    return { status: response.status, body: await response.text() };
  };

  it('answers ok when every check passes', async () => {
    expect(await read('/readyz')).toEqual({ status: 200, body: 'ok' });
  });

  it('names what fails and keeps the reason to itself', async () => {
    redisIsUp = false;
    const { status, body } = await read('/readyz');
    expect(status).toBe(503);
    expect(body).toContain('[-]redis failed: reason withheld');
    expect(body).toContain('[+]informers-synced ok');
    expect(body).not.toContain('secret');
  });

  it('stays live while a readiness check fails', async () => {
    redisIsUp = false;
    expect((await read('/livez')).status).toBe(200);
    expect((await read('/healthz')).status).toBe(503);
  });

  it('shows who led and why that changed', async () => {
    const { body, status } = await read('/admin/leadership');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ epoch: 2, transitions: [{ why: 'started leading' }] });
  });

  it('tells the reason to this machine when asked to be verbose, and to no other', async () => {
    redisIsUp = false;
    expect((await read('/readyz?verbose')).body).toContain('[-]redis failed: secret address refused');
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    const verbose = await fetch(`${server.url}/readyz?verbose`, { headers: proxied });
    expect(await verbose.text()).toContain('[-]redis failed: reason withheld');
    const json = await fetch(`${server.url}/readyz`, { headers: { ...proxied, accept: 'application/json' } });
    expect(json.status).toBe(503);
    expect(await json.text()).not.toContain('secret');
  });

  it('tells what a check that is well has to say, to those who may know', async () => {
    note = 'cannot read widgets (forbidden in the secret namespace)';
    expect(await read('/readyz')).toEqual({ status: 200, body: 'ok' });
    expect((await read('/readyz?verbose')).body).toContain(`[+]informers-synced ok: ${note}\n`);
    const json = JSON.parse((await read('/readyz', 'application/json')).body) as unknown;
    expect(json).toMatchObject({
      status: 'ok',
      info: { 'informers-synced': { status: 'up', message: note } },
    });
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    for (const accept of ['*/*', 'application/json']) {
      const answer = await fetch(`${server.url}/readyz?verbose`, { headers: { ...proxied, accept } });
      expect(await answer.text()).not.toContain('secret');
    }
  });

  it('tells the reason to whoever has the token, but lets nobody guess it', async () => {
    redisIsUp = false;
    const ask = async (token: string): Promise<string> => {
      const headers = { 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${token}` };
      return (await fetch(`${server.url}/readyz?verbose`, { headers })).text();
    };
    expect(await ask(ADMIN_TOKEN)).toContain('secret address refused');
    for (let guess = 0; guess < 20; guess++) expect(await ask(`wrong-${guess}`)).toContain('withheld');
    expect(await ask(ADMIN_TOKEN)).toContain('withheld');
  });

  it('lists the checks when asked to be verbose, leaves out excluded ones, and answers for a single one', async () => {
    redisIsUp = false;
    expect((await read('/livez?verbose')).body).toBe('[+]ping ok\nlivez check passed\n');
    expect((await read('/readyz?exclude=redis')).status).toBe(200);
    expect((await read('/readyz/redis')).status).toBe(503);
    expect((await read('/readyz/informers-synced')).status).toBe(200);
    expect((await read('/readyz/nothing')).status).toBe(404);
  });

  it('answers in terminus JSON when asked for JSON', async () => {
    const { body } = await read('/readyz', 'application/json');
    expect(JSON.parse(body)).toMatchObject({ status: 'ok', info: { redis: { status: 'up' } } });
  });

  it('shows status and metrics', async () => {
    expect(JSON.parse((await read('/admin/status')).body)).toMatchObject({
      identity: 'replica-1',
      leader: true,
    });
    expect((await read('/metrics')).status).toBe(200);
  });
});
