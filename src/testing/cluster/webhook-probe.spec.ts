import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../client/api-client/index.js';
import { delegatingClient } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { FakeCluster } from '../fake-cluster.js';
import { probeWebhook, webhooksAreCalled } from './webhook-probe.js';

const URL = 'https://127.0.0.1:9443';

/** An API server that answers the probes so, one after the other; `undefined`: it asks no webhook. */
function answering(answers: (string | undefined)[]) {
  const clock = new FakeClock();
  const left = [...answers];
  const create = ((_type, object) => {
    const message = left.length > 1 ? left.shift() : left[0];
    return message === undefined ? Promise.resolve(object) : Promise.reject(new Error(message));
  }) as ApiClient['create'];
  const client = { ...delegatingClient(new FakeCluster(clock)), create };
  const called = webhooksAreCalled(client, {
    clock,
    id: 'a',
    signal: new AbortController().signal,
    url: URL,
  });
  return { called, clock, left };
}

describe('the probe of webhooks', () => {
  const { default: fill, validate } = probeWebhook('a');
  const verdictOf = (object: object) => validate?.(object as never, {} as never) as string;

  it('is over when the API server has asked both configurations', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } };
    const one = verdictOf(map);
    await fill?.(map, {} as never);
    const { called, clock, left } = answering([undefined, one, verdictOf(map), 'not asked again']);
    await clock.advance(1000);
    await called;
    expect(left).toEqual(['not asked again']);
  });

  it('fails with what the API server says, and names the option, if that does not come', async () => {
    const { called, clock } = answering(['failed calling webhook: connection refused']);
    const failed = expect(called).rejects.toThrow(
      /does not call the webhooks at https:\/\/127\.0\.0\.1:9443 \(webhookHost .*\): failed calling webhook: connection refused$/,
    );
    await clock.advance(60_000);
    await failed;
  });
});
