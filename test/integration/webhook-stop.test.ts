import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { ConfigMap, silentLogger } from '../../src/runtime/index.js';
import type { ServedWebhooks } from '../../src/webhooks/index.js';
import { defineWebhook, serveWebhooks } from '../../src/webhooks/index.js';

/** Its time stands still: no limit of time closes a connection here. */
const clock = new FakeClock();
let release: () => void = () => undefined;
const asked = Promise.withResolvers<void>();
const slow = defineWebhook(ConfigMap, {
  async validate() {
    asked.resolve();
    await new Promise<void>((resolve) => (release = resolve));
  },
});
const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    ...{ uid: 'one', operation: 'CREATE', name: 'map', namespace: 'default' },
    userInfo: { username: 'jane' },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'map' } },
  },
});

describe('a webhook server that is told to stop', () => {
  let served: ServedWebhooks;
  const start = async (): Promise<{ host: string; port: number }> => {
    served = await serveWebhooks({ webhooks: [slow], clock, logger: silentLogger });
    const { hostname: host, port } = new URL(served.url);
    return { host, port: Number(port) };
  };
  afterEach(() => served.close());

  it('closes connections that the API server has opened and not used yet', async () => {
    const { host, port } = await start();
    const ready = connectTls({ host, port, rejectUnauthorized: false });
    await once(ready, 'secureConnect');
    const raw = connectTcp({ host, port });
    await once(raw, 'connect');
    const ended = Promise.all([once(ready, 'close'), once(raw, 'close')]);
    await served.close();
    await ended;
  });

  it('answers the request under way, and closes its connection then', async () => {
    const address = await start();
    const call = request({
      ...{ ...address, method: 'POST', path: '/validate/configmaps.core.k8s.io' },
      ...{ rejectUnauthorized: false, headers: { connection: 'keep-alive' } },
    });
    const answered = once(call, 'response');
    call.end(review);
    await asked.promise;
    const closed = served.close();
    release();
    const [response] = (await answered) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ response: { allowed: true } });
    await closed;
  });
});
