import { FakeClock } from '@rollkeeper/machinery/clock';
import { Pod } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { expect, it } from 'vitest';
import { createHttpApiClient } from './http-api-client.js';
import { fixedCredentials } from './index.js';

it('a request that waits for its next attempt is rejected when its client is closed, and leaves no timer', async () => {
  const clock = new FakeClock();
  let attempts = 0;
  const dispatcher = {
    request: async () => {
      attempts += 1;
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    },
  };
  const both = { requests: dispatcher, streams: dispatcher };
  const client = createHttpApiClient({
    connection: {
      ...{ serverUrl: 'http://nowhere', tls: {}, source: 'test' },
      credentials: fixedCredentials({}),
    },
    connections: { current: () => both, suspect: () => undefined, close: async () => undefined },
    ...{ clock, logger: silentLogger, userAgent: 'test', random: { next: () => 0.5 } },
  });
  const read = client.get(Pod, { namespace: 'default', name: 'web' });
  await clock.advance(0);
  expect(attempts).toBe(1);
  expect(clock.pendingTimers).toBeGreaterThan(0);
  await Promise.all([expect(read).rejects.toThrow('the client was closed'), client.close()]);
  expect(clock.pendingTimers).toBe(0);
  expect(attempts).toBe(1);
});
