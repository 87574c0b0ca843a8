import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerLimits } from '../../src/apiserver/index.js';
import { aDeployment, podBody, startApiServer, TOKEN } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';
import { waitFor } from '../../src/testing/wait-for.js';

const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const AUTHORIZED = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\n`;

describe('an API server with small limits', () => {
  let server: RunningApiServer;
  const sockets: Socket[] = [];

  async function start(limits: ServerLimits): Promise<void> {
    server = await startApiServer({ limits });
  }

  /** A connection that has sent `text` and is never read. */
  async function sendBlindly(text: string): Promise<Socket> {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    socket.pause();
    await new Promise<void>((resolve) => socket.write(text, () => resolve()));
    return socket;
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop();
  });

  it('writes for others while requests of which only half is sent fill all places', async () => {
    await start({ maxWritesInFlight: 1, waitingFactor: 1 });
    const half = `POST ${PODS} HTTP/1.1\r\n${AUTHORIZED}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`;
    for (let count = 0; count < 5; count++) await sendBlindly(half);
    expect((await server.call('POST', PODS, podBody('p'))).status).toBe(201);
  });

  it('reads for others while lists that nobody reads fill all places', async () => {
    await start({ maxReadsInFlight: 1, waitingFactor: 1, maxAnswerBytes: 1024 * 1024 });
    const annotations = { large: 'x'.repeat(200_000) };
    for (let index = 0; index < 30; index++) {
      expect((await server.call('POST', PODS, podBody(`p${index}`, { annotations }))).status).toBe(201);
    }
    for (let count = 0; count < 5; count++) await sendBlindly(`GET ${PODS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
    expect((await server.call('GET', '/api/v1/namespaces/default')).status).toBe(200);
  });

  it('lets newcomers in while connections without credentials take all the room', async () => {
    await start({ maxConnections: 5 });
    for (let count = 0; count < 20; count++)
      await sendBlindly(count % 2 ? 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' : '');
    expect((await server.call('GET', PODS)).status).toBe(200);
    for (const socket of sockets) socket.resume();
    await waitFor(() => sockets.filter(({ destroyed }) => !destroyed).length <= 5, {
      what: 'those that gave way',
    });
  });

  it('keeps a connection of somebody known while those without credentials come and go', async () => {
    await start({ maxConnections: 5 });
    const known = await sendBlindly(`GET ${PODS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
    known.resume();
    await once(known, 'data');
    for (let count = 0; count < 20; count++) await sendBlindly('');
    known.write(`GET ${PODS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
    await once(known, 'data');
  });

  it('ends a connection without credentials seconds after its answer, and says so before', async () => {
    await start({ unknownIdleMs: 100 });
    const unknown = await sendBlindly('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    unknown.setEncoding('utf8').resume();
    const [answer] = (await once(unknown, 'data')) as [string];
    expect(answer).toMatch(/^HTTP\/1.1 200 [^]*Keep-Alive: timeout=1\r\n/);
    await once(unknown, 'close');
  });

  it('asks who comes when there is no place to come again', async () => {
    await start({ maxWatches: 1 });
    const watch = await sendBlindly(`GET ${PODS}?watch=true HTTP/1.1\r\n${AUTHORIZED}\r\n`);
    watch.resume();
    await once(watch, 'data');
    const { headers, status } = await server.call('GET', `${PODS}?watch=true`);
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('ends watches that nobody reads when others need the room, and goes on serving', async () => {
    await start({ maxWatchBytes: 1024 * 1024, watchPatienceMs: 20, stallMs: 1000 });
    expect((await server.call('POST', DEPLOYMENTS, aDeployment('d'))).status).toBe(201);
    const watch = `GET ${DEPLOYMENTS}?watch=true&resourceVersion=0 HTTP/1.1\r\n${AUTHORIZED}\r\n`;
    const unread: Socket[] = [];
    for (let count = 0; count < 20; count++) unread.push(await sendBlindly(watch));
    let isOver = false;
    for (const socket of unread) socket.once('close', () => (isOver = true));
    // As many as the system's own buffers take, and more.
    for (let round = 0; !isOver; round++) {
      const annotations = { large: 'x'.repeat(200_000), round: String(round) };
      const headers = { 'content-type': 'application/merge-patch+json' };
      const answer = await server.call('PATCH', `${DEPLOYMENTS}/d`, { metadata: { annotations } }, headers);
      expect(answer.status).toBe(200);
      // A client that does not read notices the end when it sends something.
      for (const socket of unread) socket.write('\r\n');
    }
  });

  it.each([
    ['nothing', ''],
    ['half of the headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\n'],
    [
      'half of a body without a token',
      'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('ends a connection on which %s was sent', async (_what, text) => {
    await start({ headersTimeoutMs: 100, requestTimeoutMs: 60_000, lingerMs: 100 });
    const socket = await sendBlindly(text);
    socket.resume();
    await once(socket, 'close');
  });

  it('says that it wrote what it wrote, whatever it has to warn of', async () => {
    await start({});
    const body = aDeployment('warned', { 'a\u0001b\r\nSet-Cookie: x': 1, поле: 1 });
    const { headers, status } = await server.call('POST', DEPLOYMENTS, body);
    expect(status).toBe(201);
    expect(headers.get('warning')).toContain('unknown field');
    expect(headers.get('set-cookie')).toBeNull();
    expect((await server.call('GET', `${DEPLOYMENTS}/warned`)).status).toBe(200);
  });

  it('lists what does not fit into one page, whole and of one state', async () => {
    await start({});
    const annotations = { large: 'x'.repeat(100_000) };
    const names = Array.from({ length: 40 }, (_, index) => `p${String(index).padStart(2, '0')}`);
    for (const name of names) await server.call('POST', PODS, podBody(name, { annotations }));
    const { body } = await server.call('GET', PODS);
    expect(body.items.map((pod: { metadata: { name: string } }) => pod.metadata.name)).toEqual(names);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(body.metadata.continue).toBeUndefined();
  });
});
