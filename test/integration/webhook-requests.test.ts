import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { ConfigMap, silentLogger } from '../../src/runtime/index.js';
import type { ServedWebhooks } from '../../src/webhooks/index.js';
import { defineWebhook, serveWebhooks } from '../../src/webhooks/index.js';

const webhooks = [defineWebhook(ConfigMap, { validate: async () => undefined })];

// Anyone who reaches the port can send them: there are no credentials.
describe('a webhook server', () => {
  let served: ServedWebhooks;

  beforeEach(async () => {
    served = await serveWebhooks({ webhooks, clock: new FakeClock(), logger: silentLogger });
  });
  afterEach(() => served.close());

  const answerTo = async (request: string): Promise<string> => {
    const { hostname: host, port } = new URL(served.url);
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.write(request);
    await once(socket, 'close');
    return text.split('\r\n')[0] ?? '';
  };
  const ask = (line: string, body = ''): Promise<string> =>
    answerTo(
      `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );

  it.each(['//', '///', 'http://', 'https://[', '//:99999999', 'https://x:99999999/'])(
    'refuses %s, which is no path, and serves others then',
    async (target) => {
      expect(await ask(`GET ${target}`)).toBe('HTTP/1.1 400 Bad Request');
      expect(await ask('GET /healthz')).toBe('HTTP/1.1 200 OK');
    },
  );

  it.each([
    ['GET /validate/configmaps.core.k8s.io', '', 405],
    ['POST /validate/configmaps.core.k8s.io', '', 400],
    ['POST /validate/configmaps.core.k8s.io?timeout=99999999s', '[]', 400],
    ['POST /validate/configmaps.core.k8s.io', '{"request":{"__proto__":{"uid":1}}}', 400],
    ['POST /constructor', '{}', 404],
    ['OPTIONS *', '', 404],
  ])('answers %s with %j by %i', async (line, body, code) => {
    expect(await ask(line, body)).toContain(`HTTP/1.1 ${code} `);
    expect(await ask('GET /healthz')).toBe('HTTP/1.1 200 OK');
  });
});
