import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { get, request } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer, AdminServerOptions } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';

const TOKEN = { authorization: `Bearer ${ADMIN_TOKEN}` };
/** More than one client may have. */
const MANY = 60;

let server: AdminServer;
let port: number;
let ends: (() => void)[];

async function start(limits: AdminServerOptions['limits']): Promise<void> {
  const ports = anAdminPorts({ informers: new FakeInformers(new FakeCluster()) });
  const module = AdminModule.forRoot({
    health: new HealthRegistry(),
    metrics: createMetrics(),
    status: ports.status,
    ports,
  });
  server = await startAdminServer(module, { host: '127.0.0.1', port: 0, limits });
  port = Number(new URL(server.url).port);
}

beforeEach(async () => {
  ends = [];
  await start({ requestTimeout: 400, headersTimeout: 200, connectionsCheckingInterval: 20 });
});
afterEach(async () => {
  for (const end of ends) end();
  await server.close();
});

interface Stream {
  readonly status: number | undefined;
  text: string;
  isOver: boolean;
}

async function openStream(headers: Record<string, string> = {}): Promise<Stream> {
  const sent: ClientRequest = get({ port, path: '/admin/events', headers, agent: false });
  ends.push(() => sent.destroy());
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const stream: Stream = { status: response.statusCode, text: '', isOver: false };
  response.on('data', (chunk: Buffer) => (stream.text += chunk.toString()));
  response.on('close', () => (stream.isOver = true)).on('error', () => undefined);
  return stream;
}

describe('event streams of the admin port', () => {
  it('are always granted, however many others a client has open, and the oldest of the same client gives way', async () => {
    const streams: Stream[] = [];
    for (let count = 0; count < MANY; count++) streams.push(await openStream());
    expect(streams.map(({ status }) => status)).toEqual(Array(MANY).fill(200));
    await waitFor(() => streams.slice(0, MANY - 20).every(({ isOver }) => isOver), { what: 'the oldest' });
    expect(streams.slice(-20).some(({ isOver }) => isOver)).toBe(false);
    for (const { text } of streams.slice(0, MANY - 20)) expect(text).toContain('event: gave-way');
  });

  it('push out nobody else’s, of one client', async () => {
    const others = await openStream(TOKEN);
    for (let count = 0; count < MANY; count++) await openStream();
    expect(others).toMatchObject({ status: 200, isOver: false });
    const another = await openStream(TOKEN);
    expect(another).toMatchObject({ status: 200, isOver: false });
    expect(others.isOver).toBe(false);
  });

  it('end with the replica: its stop waits for no page to be closed', async () => {
    const stream = await openStream();
    await server.close();
    await waitFor(() => stream.isOver, { what: 'the end of the stream' });
    expect(stream.text).not.toContain('gave-way');
  });
});

describe('a flood of requests', () => {
  it('holds up whoever sends it, and not those at the same address who know the token, nor probes', async () => {
    const statusOf = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
      const response = await fetch(server.url + path, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    const flood = await Promise.all(Array.from({ length: 500 }, () => statusOf('/admin/config')));
    expect(flood).toContain(429);
    expect(await statusOf('/admin/config')).toBe(429);
    expect(await statusOf('/admin/config', TOKEN)).toBe(200);
    expect(await statusOf('/livez')).toBe(200);
  });
});

describe('a connection to the admin port', () => {
  /** The answer to these bytes, until the other side ends the connection. */
  const talk = async (bytes: string): Promise<string> => {
    const socket: Socket = connect(port, '127.0.0.1');
    ends.push(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(bytes);
    await once(socket, 'close');
    return text;
  };
  const head = (...more: string[]): string =>
    ['POST /admin/queues/deployment/requeue HTTP/1.1', 'Host: 127.0.0.1', ...more, '', ''].join('\r\n');
  const length = 'Content-Length: 100';
  const json = 'Content-Type: application/json';

  it('ends in time when nothing, half of the headers, or half of a body comes', async () => {
    expect(await talk('')).not.toContain('200');
    expect(await talk('GET /livez HTTP/1.1\r\nHost: 127')).toContain('408 Request Timeout');
    const half = `${head(length, json, `Authorization: ${TOKEN.authorization}`)}{"key":`;
    expect(await talk(half)).toContain('408 Request Timeout');
  });

  it('ends for who may not change anything before any time limit, whatever they had still to send', async () => {
    await server.close();
    await start({ requestTimeout: 600_000, headersTimeout: 600_000, connectionsCheckingInterval: 20 });
    expect(await talk(`${head(length, json)}{"key":`)).toContain('401 Unauthorized');
    expect(await talk(`${head('Transfer-Encoding: chunked', json)}5\r\n{"key`)).toContain('401 Unauthorized');
  });

  it('takes headers and bodies of a size that makes sense, and no more', async () => {
    expect(await talk(head(`X-Padding: ${'x'.repeat(20_000)}`))).toContain('431 ');
    const many = Array.from({ length: 3000 }, (_, index) => `X-H${index}: 1`);
    expect(await talk(head(...many))).toContain('431 ');
    const large = { key: 'default/web', reason: 'x'.repeat(20_000) };
    expect(await post('/admin/queues/deployment/park', JSON.stringify(large))).toBe(413);
    expect(await post('/admin/queues/deployment/park', JSON.stringify({ key: 'default/web' }))).toBe(200);
  });

  async function post(path: string, body: string, type = 'application/json'): Promise<number | undefined> {
    const headers = { ...TOKEN, 'content-type': type };
    const sent = request({ port, path, method: 'POST', headers, agent: false });
    sent.on('error', () => undefined).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  it('takes no forms, which pages of other sites can send without asking', async () => {
    const form = 'application/x-www-form-urlencoded';
    expect(await post('/admin/queues/deployment/park', 'key=default/web', form)).toBe(400);
    expect(await post('/admin/queues/deployment/park', 'key=default/web', 'text/plain')).toBe(400);
  });
});

describe('names that objects have by birth', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'];
  const ask = async (method: string, path: string, body?: string): Promise<[number | undefined, string]> => {
    const headers = { ...TOKEN, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const sent = request({ port, path, method, headers, agent: false });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return [response.statusCode, text];
  };

  const PATHS = [
    (name: string) => `/admin/queues/${name}`,
    (name: string) => `/admin/queues/${name}/key?key=${name}`,
    (name: string) => `/admin/queues/deployment/key?key=${name}`,
    (name: string) => `/admin/queues/deployment/key?key[${name}]=x`,
    (name: string) => `/admin/queues/deployment/key?${name}=x&key=default/web`,
    (name: string) => `/admin/queues/deployment?limit=${name}`,
    (name: string) => `/admin/queues/deployment?limit[${name}]=1`,
    (name: string) => `/admin/local/decisions?controller=${name}&key=${name}`,
    (name: string) => `/admin/local/decisions?since=${name}`,
    (name: string) => `/admin/local/traces/${name}`,
    (name: string) => `/admin/traces/${name}`,
    (name: string) => `/admin/explain/deployments/${name}/${name}`,
    (name: string) => `/console/${name}`,
    (name: string) => `/livez/${name}`,
    (name: string) => `/livez?exclude=${name}&${name}=1&verbose`,
    (name: string) => `/readyz?exclude[${name}]=x`,
  ];

  it.each(PATHS)('are names like any other in %s', async (path) => {
    for (const name of NAMES) {
      const [status = 0, text] = await ask('GET', path(name));
      expect(status, `${path(name)}: ${text}`).toBeLessThan(500);
      expect(text).not.toMatch(/native code|function/);
    }
  });

  const BODIES = NAMES.flatMap((name) => [
    `{"${name}": {"polluted": true}}`,
    `{"key": "default/web", "${name}": {"polluted": true}}`,
    `{"key": {"${name}": "x"}}`,
    `{"key": "${name}"}`,
    `{"level": "${name}"}`,
    `{"level": "debug", "${name}": {"level": "error"}}`,
    `"${name}"`,
    `["${name}"]`,
  ]);

  it.each(BODIES)('are data like any other in %s', async (body) => {
    for (const verb of ['requeue', 'park', 'unpark', 'purge']) {
      const [status = 0, text] = await ask('POST', `/admin/queues/deployment/${verb}`, body);
      expect(status, `${verb}: ${text}`).toBeLessThan(500);
    }
    const [status = 0, text] = await ask('PUT', '/admin/log-level', body);
    expect(status, text).toBeLessThan(500);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each(['', 'null', '0', '{', '{"key":', '\u0000', '"\\ud800"', `${'['.repeat(5000)}${']'.repeat(5000)}`])(
    'and what is no request at all is answered as that: %j',
    async (body) => {
      for (const verb of ['requeue', 'park', 'unpark', 'purge']) {
        const [status = 0] = await ask('POST', `/admin/queues/deployment/${verb}`, body);
        expect(status).toBe(400);
      }
    },
  );
});
