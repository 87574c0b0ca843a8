import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCheck } from '../../src/controllers/deployment/policies/checks/check-definition.js';
import type { WebhookCheck } from '../../src/controllers/deployment/policies/checks/check-definition.js';
import { hostProblem, parseHostRules } from '../../src/controllers/deployment/policies/checks/check-hosts.js';
import { newRun } from '../../src/controllers/deployment/policies/checks/add-measurement.js';
import { UndiciSender } from '../../src/controllers/deployment/policies/checks/common/http-sender.js';
import { NO_SECRETS } from '../../src/controllers/deployment/policies/checks/check-secrets.js';
import { measureMetric } from '../../src/controllers/deployment/policies/checks/measure-metric.js';
import { measureWebhook } from '../../src/controllers/deployment/policies/checks/measure-webhook.js';
import { SystemClock } from '../../src/machinery/clock/index.js';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const subject = {
  ...{ check: 'slo', namespace: 'shop', name: 'web', revision: '3', replicaSet: 'web-1', hash: '1' },
  step: 2,
};
const { signal } = new AbortController();

describe('checks over HTTP', () => {
  let server: Server;
  let port: number;
  let seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[];
  let answer: Answer;
  let sender: UndiciSender;

  beforeEach(async () => {
    seen = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { headers, method, url } = request;
        seen.push({ method, url, headers, body });
        answer(request, response, body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    const hosts = parseHostRules(`127.0.0.1:${port}`, 'check-hosts');
    sender = new UndiciSender(new SystemClock(), (url) => hostProblem(url, hosts));
  });

  afterEach(async () => {
    await sender.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const json =
    (value: unknown, status = 200): Answer =>
    (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
  const vector = (...values: string[]) =>
    json({
      status: 'success',
      data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1, value] })) },
    });

  function measure(timeout = '5s'): ReturnType<typeof measureMetric> {
    const prometheus = {
      ...{ address: `http://127.0.0.1:${port}/prom/`, query: 'e{pod=~"{{name}}-{{hash}}-.*"}', timeout },
      condition: '< 0.01',
    };
    const parsed = parseCheck(JSON.stringify({ prometheus }));
    if (!('check' in parsed) || parsed.check.kind !== 'prometheus') throw new Error('it is not read');
    const parts = { sender, signal, secrets: NO_SECRETS, clock: new SystemClock() };
    return measureMetric(parsed.check.metric, subject, parts);
  }

  it('ask Prometheus for the value of now', async () => {
    answer = vector('0.005');
    expect(await measure()).toEqual({ verdict: 'passed', value: 0.005 });
    expect(seen[0]).toMatchObject({ method: 'GET' });
    const { pathname, searchParams } = new URL(`http://x${seen[0]?.url}`);
    expect([pathname, searchParams.get('query')]).toEqual(['/prom/api/v1/query', 'e{pod=~"web-1-.*"}']);
    answer = vector('0.005', '0.5');
    expect(await measure(), 'each of several series').toMatchObject({ verdict: 'failed', value: 0.5 });
    answer = vector('+Inf');
    expect(await measure()).toEqual({ verdict: 'failed', message: 'Infinity is not < 0.01' });
    answer = json({ status: 'success', data: { resultType: 'scalar', result: [1, '0'] } });
    expect(await measure()).toEqual({ verdict: 'passed', value: 0 });
  });

  it.each<[string, Answer, string]>([
    ['no series', vector(), 'the query found no series'],
    ['NaN', vector('NaN'), 'the value is NaN'],
    ['no number', vector(''), 'the value is NaN'],
    [
      'a refusal',
      json({ status: 'error', errorType: 'bad_data', error: 'secret' }, 400),
      'answered 400 (bad_data)',
    ],
    ['a page', (_request, response) => response.end('<html>'), 'answered 200, and no JSON'],
    ['a range', json({ status: 'success', data: { resultType: 'matrix', result: [] } }), 'neither a scalar'],
    ['an end', (request) => request.socket.destroy(), 'no answer (UND_ERR_SOCKET)'],
    ['too much', (_request, response) => response.end('x'.repeat(1_100_000)), 'more than 1048576 bytes'],
    [
      'a redirect',
      (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      'answered 302',
    ],
  ])('are unknown by %s', async (_name, given, message) => {
    answer = given;
    const measured = await measure();
    expect(measured.verdict).toBe('unknown');
    expect(measured.message).toContain(message);
    expect(measured.message).not.toContain('secret');
    expect(seen, 'asked once').toHaveLength(1);
  });

  it('are unknown if they are not answered in time, and end with the sync', async () => {
    answer = () => undefined;
    expect(await measure('0.1s')).toMatchObject({
      verdict: 'unknown',
      message: 'Prometheus: no answer within 100 ms',
    });
    const stopper = new AbortController();
    const asked = sender.send(
      { method: 'GET', url: `http://127.0.0.1:${port}`, timeoutMs: 60_000 },
      stopper.signal,
    );
    stopper.abort(new Error('the sync has ended'));
    await expect(asked).rejects.toThrow('the sync has ended');
  });

  it('ask no other host, whatever asks', async () => {
    const asked = sender.send({ method: 'GET', url: `http://localhost:${port}`, timeoutMs: 1000 }, signal);
    await expect(asked).rejects.toThrow('is not one of the hosts');
    expect(seen).toEqual([]);
  });

  it('connect to no allowed name that resolves to this machine, also if it resolved elsewhere before', async () => {
    const hosts = parseHostRules('*.example.com', 'check-hosts');
    const addresses = ['127.0.0.1', '::ffff:169.254.169.254'];
    const rebinding = new UndiciSender(
      new SystemClock(),
      (url) => hostProblem(url, hosts),
      (_hostname, callback) => callback(null, [{ address: addresses.shift() ?? '127.0.0.1', family: 4 }]),
    );
    try {
      for (const shown of ['127.0.0.1', '169.254.169.254', '127.0.0.1']) {
        const url = `http://metrics.example.com:${port}/`;
        const asked = rebinding.send({ method: 'GET', url, timeoutMs: 5000 }, signal);
        await expect(asked).rejects.toThrow(shown);
      }
      expect(seen).toEqual([]);
    } finally {
      await rebinding.close();
    }
  });

  it('tell a webhook what they are about, signed, and take its status for the answer', async () => {
    const parsed = parseCheck(JSON.stringify({ webhook: { url: `http://127.0.0.1:${port}/gate?x=1` } }));
    const check = ('check' in parsed ? parsed.check : undefined) as WebhookCheck;
    const asked = { subject, run: newRun(subject, '2026-01-01T00:00:00Z'), replicaSetUid: 'uid' };
    const signer = { headersOf: async (id: string) => ({ 'webhook-id': id, 'webhook-signature': 'v1,x' }) };
    const ask = () => measureWebhook(check, asked, { sender, signer, signal });
    const verdicts: unknown[] = [];
    for (const status of [204, 302, 403, 429, 503]) {
      answer = json({}, status);
      if (status === 204) answer = (_request, response) => response.writeHead(204).end();
      verdicts.push([status, (await ask()).verdict]);
    }
    expect(verdicts).toEqual([
      [204, 'passed'],
      [302, 'failed'],
      [403, 'failed'],
      [429, 'unknown'],
      [503, 'unknown'],
    ]);
    expect(seen[0]).toMatchObject({
      ...{ method: 'POST', url: '/gate?x=1', body: JSON.stringify({ ...subject, attempt: 1 }) },
      headers: { 'webhook-id': 'uid.3.step-2.slo.1.0', 'webhook-signature': 'v1,x' },
    });
    const refuses = { headersOf: () => Promise.reject(new Error('no key')) };
    expect(await measureWebhook(check, asked, { sender, signer: refuses, signal })).toEqual({
      verdict: 'unknown',
      message: 'the webhook: cannot be signed: no key',
    });
    expect(seen, 'unsigned is not sent').toHaveLength(5);
  });
});
