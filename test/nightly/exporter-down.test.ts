import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { context, propagation, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTracing } from '../../src/opentelemetry/index.js';

/** Takes connections and never answers. */
let silent: Server;

beforeEach(async () => {
  silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  silent.close();
  trace.disable();
  context.disable();
  propagation.disable();
  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_BSP_MAX_QUEUE_SIZE']) delete process.env[name];
});

it.each(['silent', 'absent'])(
  'a collector that is %s holds nothing up and lets nothing grow',
  async (kind) => {
    const { port } = silent.address() as AddressInfo;
    if (kind === 'absent') silent.close();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_MAX_QUEUE_SIZE: '1000' };
    Object.assign(process.env, env);
    const tracing = startTracing({ serviceName: 'test', instance: 'a', version: '1', env });
    const heapBefore = heapAfterCollection();
    for (let round = 0; round < 40; round++) {
      for (let index = 0; index < 1000; index++) {
        const filler = randomBytes(500).toString('hex');
        tracing.tracer.startSpan('span', { attributes: { filler } }).end();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    // 40 000 spans of more than 1 kB each would be more than 50 MB.
    expect(heapAfterCollection() - heapBefore).toBeLessThan(15e6);

    await tracing.shutdown();
  },
);

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
