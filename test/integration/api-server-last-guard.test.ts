import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../src/machinery/clock/index.js';
import type { Logger } from '../../src/machinery/logging/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { ApiServerMetrics } from '../../src/apiserver/server/api-server-metrics.js';
import { noApiServerMetrics } from '../../src/apiserver/server/api-server-metrics.js';
import { ApiServer } from '../../src/apiserver/server/api-server.js';
import { createKindRegistry } from '../../src/apiserver/kinds/index.js';
import { createSchemaRegistry } from '../../src/apiserver/schema/index.js';
import { MemoryStorage } from '../../src/apiserver/storage/index.js';

/** Asks a server whose metrics are broken; answers what came of it, and what the server has logged. */
async function askBroken(broken: Partial<ApiServerMetrics>, path: string) {
  const logged: string[] = [];
  const logger: Logger = { ...silentLogger, error: (event) => void logged.push(event) };
  const clock = new FakeClock();
  const server = new ApiServer({
    storage: new MemoryStorage({ clock }),
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    clock,
    random: new SeededRandom(1),
    logger,
    metrics: { ...noApiServerMetrics, ...broken },
  });
  const stop = new AbortController();
  const run = server.run(stop.signal);
  const { url } = await server.ready;
  const answer = await fetch(url + path).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    () => undefined,
  );
  const next = await fetch(`${url}/livez`).then(
    ({ status }) => status,
    () => undefined,
  );
  stop.abort();
  await run;
  return { answer, logged, next };
}

describe('a request whose answer cannot be written', () => {
  it('is answered 500, logged, and the end of nothing else', async () => {
    const unwritable = { serialize: () => Promise.resolve(Symbol('no text') as unknown as string) };
    const { answer, logged, next } = await askBroken(unwritable, '/metrics');
    expect(answer?.status).toBe(500);
    expect(JSON.parse(answer!.text)).toMatchObject({ kind: 'Status', code: 500, reason: 'InternalError' });
    expect(logged).toEqual(['a request failed']);
    expect(next).toBe(200);
  });

  it('ends alone when what follows the answer fails', async () => {
    let isBroken = true;
    const served = (): void => {
      if (!isBroken) return;
      isBroken = false;
      throw new TypeError('broken');
    };
    const { logged, next } = await askBroken({ served }, '/version');
    expect(logged).toEqual(['an answer could not be written']);
    expect(next).toBe(200);
  });
});
