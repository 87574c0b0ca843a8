import { expect, it } from 'vitest';
import {
  ApiServer,
  createKindRegistry,
  createSchemaRegistry,
  MemoryStorage,
} from '../../src/apiserver/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';

it('a server says once, at its start, what it does not defend', async () => {
  const said: unknown[] = [];
  const clock = new SystemClock();
  const logger = {
    ...silentLogger,
    info: (message: string, fields?: object) => void said.push([message, fields]),
    child: () => logger,
  };
  const server = new ApiServer({
    storage: new MemoryStorage({ clock }),
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    clock,
    random: new SystemRandom(),
    logger,
    token: 'the-token-of-the-tests',
  });
  const stop = new AbortController();
  const run = server.run(stop.signal);
  await server.ready;
  stop.abort();
  await run;
  const isIt = (line: unknown): boolean =>
    Array.isArray(line) && line[0] === 'weaker than a genuine API server';
  const because: unknown = expect.arrayContaining(['no audit log']);
  expect(said.filter(isIt)).toEqual([['weaker than a genuine API server', { because }]]);
});
