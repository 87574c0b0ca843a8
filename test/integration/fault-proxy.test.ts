import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { FaultDecisions } from '../../src/testing/faults/fault-proxy.js';
import { FaultProxy } from '../../src/testing/faults/fault-proxy.js';

const PODS = '/api/v1/namespaces/shop/pods';

describe('the one proxy before an API server, as its decisions say', () => {
  /** The requests that the server got: their method, path, body and header. */
  const got: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers, method, url } = request;
      got.push(
        `${method} ${url} ${Buffer.concat(chunks).toString()} ${String(headers['x-own'] ?? '')}`.trim(),
      );
      response.writeHead(200, { 'content-type': 'application/json' });
      if (url?.includes('watch=')) response.write('{"type":"ADDED","object":{}}\n');
      else response.end('{"kind":"Pod","metadata":{}}');
    });
  });
  let decide: FaultDecisions['decide'];
  let proxy: FaultProxy;
  let url: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const decisions: FaultDecisions = {
      decide: (request) => decide(request),
      decideEvent: () => ({}),
      untilOpen: async () => undefined,
    };
    const clock = new SystemClock();
    proxy = new FaultProxy({ url: target, tls: false, decisions, clock, logger: silentLogger });
    ({ url } = await proxy.start());
  });
  afterAll(async () => {
    await proxy.stop();
    server.closeAllConnections();
    server.close();
  });
  afterEach(() => void got.splice(0));

  const post = (body: string): Promise<Response> => fetch(url + PODS, { method: 'POST', body });

  it('passes a request whose body was read, with the headers that were changed', async () => {
    decide = async ({ body, headers }) => {
      headers['x-own'] = (await body()).toString().toUpperCase();
      return undefined;
    };
    expect(await (await post('pod')).json()).toEqual({ kind: 'Pod', metadata: {} });
    expect(got).toEqual([`POST ${PODS} pod POD`]);
  });

  it('passes a request whose body was not read', async () => {
    decide = () => undefined;
    await post('pod');
    expect(got).toEqual([`POST ${PODS} pod`]);
  });

  it('answers by itself, and the server gets nothing', async () => {
    decide = () => ({ before: { kind: 'json', code: 201, json: { made: 'here' } } });
    const answer = await post('pod');
    expect([answer.status, await answer.json()]).toEqual([201, { made: 'here' }]);
    decide = () => ({ before: { kind: 'status', code: 403, reason: 'Forbidden', message: 'not here' } });
    const refusal = {
      kind: 'Status',
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message: 'not here',
    };
    expect(await (await post('pod')).json()).toMatchObject(refusal);
    expect(got).toEqual([]);
  });

  it('tells the decision the status of the server, and waits for it before it answers', async () => {
    const order: unknown[] = [];
    decide = () => ({
      after: async (status) => {
        order.push(got.length, status);
        return { kind: 'status', code: 500, reason: 'InternalError', retryAfterSeconds: 3 };
      },
    });
    const answer = await post('pod');
    expect(order).toEqual([1, 200]);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, '3']);
  });

  it('breaks in the middle of the answer', async () => {
    decide = () => ({ after: () => ({ kind: 'half-sent' }) });
    const answer = await post('pod');
    expect([answer.status, Number(answer.headers.get('content-length'))]).toEqual([200, 28]);
    await expect(answer.text()).rejects.toThrow();
  });

  it('breaks a connection whose decision fails', async () => {
    decide = () => {
      throw new Error('the replica is dead');
    };
    await expect(post('pod')).rejects.toThrow();
    expect(got).toEqual([]);
  });

  it('leaves a request without an answer until it is healed', async () => {
    const asked = new Promise<void>((resolve) => {
      decide = () => {
        resolve();
        return { before: { kind: 'silence' } };
      };
    });
    const answer = post('pod');
    answer.catch(() => undefined);
    await asked;
    // The next request is decided after the first one has been left alone.
    decide = () => undefined;
    await post('other');
    proxy.heal();
    await expect(answer).rejects.toThrow();
  });

  it('begins a watch, ends it with 410, or does so at once', async () => {
    decide = () => undefined;
    const path = `${url}${PODS}?watch=true`;
    const reader = (await fetch(path)).body?.getReader();
    const text = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value);
    expect(await text()).toContain('ADDED');
    for (const watch of proxy.watchesOf({ resource: 'pods' })) watch.endAsGone();
    expect(await text()).toContain('"code":410');
    decide = () => ({ before: { kind: 'gone' } });
    expect(await (await fetch(path)).text()).toContain('"reason":"Expired"');
  });
});
