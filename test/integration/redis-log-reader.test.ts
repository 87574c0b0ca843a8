import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogEntry } from '../../src/apiserver/storage/log-entry.js';
import { NewestTexts } from '../../src/apiserver/storage/newest-texts.js';
import { RedisKeys } from '../../src/apiserver/storage/redis-layout.js';
import { RedisLogReader } from '../../src/apiserver/storage/redis-log-reader.js';
import { RedisOpener } from '../../src/apiserver/storage/redis-opener.js';
import { compileRedisStorageOptions } from '../../src/apiserver/storage/redis-storage.options.js';
import { RedisWriter } from '../../src/apiserver/storage/redis-writer.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import type { RedisConnection } from '../../src/redis/connection/index.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

const BATCH_MS = 50;

describe('RedisLogReader', () => {
  let server: TestRedisServer;
  let admin: Redis;
  let connections: RedisConnection[];
  let stop: AbortController;

  beforeEach(async () => {
    server = await startTestRedisServer();
    admin = new Redis(server.url);
    connections = [];
    stop = new AbortController();
  });

  afterEach(async () => {
    stop.abort();
    admin.disconnect();
    for (const connection of connections) connection.disconnect();
    await server.stop();
  });

  function connect(mode?: 'blocking'): RedisConnection {
    const connection = createRedisConnection({
      url: server.url,
      connectionName: 'test',
      ...(mode ? { mode } : {}),
    });
    connections.push(connection);
    return connection;
  }

  it('does not look for a write of this process that the log showed before its answer came', async () => {
    const clock = new FakeClock();
    const options = compileRedisStorageOptions({ url: server.url, clock, watchBatchMs: BATCH_MS });
    const redis = connect();
    const keys = new RedisKeys(options.keyPrefix);
    const newest = new NewestTexts({ maxEntries: 100, maxTextLength: 10_000 });
    const opener = new RedisOpener(redis, keys, options);
    const reader = new RedisLogReader(connect('blocking'), keys, options, newest, opener);
    const answers: (readonly LogEntry[])[] = [];
    const writer = new RedisWriter(redis, keys, options, opener, newest, (entries) => answers.push(entries));
    const write = (name: string): Promise<unknown> =>
      writer.write({
        type: 'created',
        key: { resource: 'pods', namespace: '', name },
        expected: 0,
        text: '{}',
      });
    const hearAnswer = (): void => reader.tell(answers.shift()!);
    const running = reader.run(stop.signal);

    const ring = (await reader.ring(stop.signal))!;
    await write('shown-first');
    await waitFor(() => ring.last === answers[0]?.[0]?.revision);
    hearAnswer();
    const before = await looks(admin);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await clock.advance(BATCH_MS);
      await write(name);
      hearAnswer();
    }
    expect((await looks(admin)) - before).toBe(0);

    stop.abort();
    await running;
  });
});

/** How often the log was read, by whomever. */
async function looks(admin: Redis): Promise<number> {
  return Number(/cmdstat_xread:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
}
