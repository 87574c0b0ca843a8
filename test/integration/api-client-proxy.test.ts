import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterConnection } from '../../src/client/api-client/index.js';
import { ApiConnectionError, bearerToken, createHttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import type { TestCertificates } from '../../src/testing/api-client-certificates.js';
import { makeTestCertificates } from '../../src/testing/api-client-certificates.js';
import { ApiClientServer, json, stream } from '../../src/testing/api-client-server.js';
import type { TestProxy } from './support/proxies.js';
import { startHttpProxy, startSocksProxy } from './support/proxies.js';

let pki: TestCertificates;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  pki = await makeTestCertificates();
});

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function startServer(scheme: 'http' | 'https'): Promise<ApiClientServer> {
  const { cert, key } = pki.server;
  const tls = scheme === 'https' ? { cert, key, ca: pki.ca, requestCert: true } : undefined;
  const server = await ApiClientServer.start(tls);
  stops.push(() => server.stop());
  return server.always((response, request) => {
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } };
    const answer = request.url.includes('watch=1')
      ? stream([`${JSON.stringify(bookmark)}\n`])
      : json(200, { metadata: { resourceVersion: '5' }, items: [] });
    return answer(response, request);
  });
}

function connectTo(server: ApiClientServer, proxyUrl: string) {
  const connection: ClusterConnection = {
    serverUrl: server.url,
    tls: { ca: pki.ca, cert: pki.client.cert, key: pki.client.key },
    credentials: bearerToken('secret'),
    proxyUrl,
    source: 'test',
  };
  const clock = new SystemClock();
  const client = createHttpApiClient({ connection, userAgent: 'test', clock, maxAttempts: 1 });
  stops.push(() => client.close());
  return client;
}

async function started(starting: Promise<TestProxy>): Promise<TestProxy> {
  const proxy = await starting;
  stops.push(() => proxy.stop());
  return proxy;
}

describe('an API server behind a proxy', () => {
  it.each<[string, () => Promise<TestProxy>, (port: number) => string, string]>([
    ['a tunnel', () => startHttpProxy(), (port) => `http://127.0.0.1:${port}`, 'CONNECT'],
    ['SOCKS 5', () => startSocksProxy(), (port) => `socks5://127.0.0.1:${port}`, 'SOCKS'],
  ])('is reached by %s, requests and watches, TLS from end to end', async (_name, start, urlOf, how) => {
    const server = await startServer('https');
    const proxy = await started(start());
    const client = connectTo(server, urlOf(proxy.port));
    expect((await client.list(Pod)).resourceVersion).toBe('5');
    const { signal } = new AbortController();
    const limits = { timeoutSeconds: 5, idleTimeoutMs: 5_000, signal };
    const seen: unknown[] = [];
    for await (const event of client.watch(Pod, { resourceVersion: '5', ...limits })) seen.push(event);
    expect(seen).toEqual([{ type: 'BOOKMARK', resourceVersion: '7' }]);

    const target = new URL(server.url).host;
    expect(proxy.asked, 'a connection of its own for the watch').toEqual([
      `${how} ${target}`,
      `${how} ${target}`,
    ]);
    const [request] = server.received;
    expect(request?.headers.authorization).toBe('Bearer secret');
    expect((request?.raw.socket as TLSSocket).getPeerCertificate().subject.CN).toBe('rollkeeper');
  });

  it.each<[string, () => Promise<TestProxy>, string]>([
    ['HTTP', () => startHttpProxy(), 'http'],
    ['SOCKS', () => startSocksProxy(), 'socks5'],
  ])('gives a name and a password over %s, to the proxy alone', async (_name, start, scheme) => {
    const server = await startServer('https');
    const proxy = await started(start());
    const client = connectTo(server, `${scheme}://me:p%40ss@127.0.0.1:${proxy.port}`);
    await client.list(Pod);
    expect(proxy.asked[0]).toMatch(/ as me:p@ss$/);
    expect(server.received[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('is asked through the proxy where it speaks plain HTTP', async () => {
    const server = await startServer('http');
    const proxy = await started(startHttpProxy());
    await connectTo(server, `http://127.0.0.1:${proxy.port}`).list(Pod);
    expect(proxy.asked).toEqual([`GET ${server.url}`]);
  });

  it('is not reached directly where the proxy is away', async () => {
    const server = await startServer('https');
    const proxy = await startHttpProxy();
    await proxy.stop();
    const client = connectTo(server, `http://127.0.0.1:${proxy.port}`);
    await expect(client.list(Pod)).rejects.toThrow(ApiConnectionError);
    expect(server.received).toEqual([]);
  });

  it('is not believed by the proxy’s word: its certificate is checked as ever', async () => {
    const server = await startServer('https');
    const proxy = await started(startHttpProxy());
    const stranger = await makeTestCertificates('a stranger');
    const connection: ClusterConnection = {
      serverUrl: server.url,
      tls: { ca: stranger.ca },
      credentials: bearerToken('secret'),
      proxyUrl: `http://127.0.0.1:${proxy.port}`,
      source: 'test',
    };
    const client = createHttpApiClient({
      connection,
      userAgent: 'test',
      clock: new SystemClock(),
      maxAttempts: 1,
    });
    stops.push(() => client.close());
    await expect(client.list(Pod)).rejects.toThrow('self-signed certificate');
    expect(server.received).toEqual([]);
  });
});
