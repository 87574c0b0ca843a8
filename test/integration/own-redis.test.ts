import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RedisProcess } from '../../src/app/supervisor/redis-process.js';
import { startRedis } from '../../src/app/supervisor/redis-process.js';
import { SystemClock } from '../../src/base/clock/index.js';
import { silentLogger } from '../../src/base/logging/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

/** Large enough for the disk to be busy with what came before. */
const VALUE = 'x'.repeat(20_000);
/** Below what has Redis begin another file. */
const WRITES = 3000;

describe('the Redis of a data folder', () => {
  let dataDir: string;
  let redis: RedisProcess;
  let client: Redis;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-own-redis-'));
    redis = await startRedis({
      dataDir,
      logFd: openSync(join(dataDir, 'redis.log'), 'a'),
      clock: new SystemClock(),
      logger: silentLogger,
      onChange: () => undefined,
    });
    client = new Redis(redis.url);
  });

  afterEach(async () => {
    client.disconnect();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** The file that Redis appends to. */
  function openAppended(): number {
    const folder = join(dataDir, 'redis', 'appendonlydir');
    const name = readdirSync(folder).find((file) => file.endsWith('.incr.aof'));
    return openSync(join(folder, name ?? ''), 'r');
  }

  it('answers no write that is not in its file', async () => {
    const file = openAppended();
    const lacking: number[] = [];
    for (let count = 0; count < WRITES; count++) {
      const before = fstatSync(file).size;
      await client.set(`key-${count % 50}`, VALUE);
      if (fstatSync(file).size < before + VALUE.length) lacking.push(count);
    }
    closeSync(file);
    expect(lacking).toEqual([]);
  });

  it('has after a kill -9 all that it has answered', async () => {
    client.on('error', () => undefined);
    let answered = 0;
    const writing = (async () => {
      for (;;) {
        await client.set('count', answered + 1, 'GET');
        answered += 1;
      }
    })();
    const stopped = writing.catch(() => undefined);
    await waitFor(() => answered > 1000, { what: 'writes' });
    const pid = redis.pid();
    process.kill(pid ?? 0, 'SIGKILL');
    client.disconnect();
    await stopped;
    await waitFor(() => redis.pid() !== pid, { what: 'a new Redis' });
    client = new Redis(redis.url);
    client.on('error', () => undefined);
    expect(Number(await client.get('count'))).toBeGreaterThanOrEqual(answered);
  });
});
