import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  RedisProcess,
  RedisProcessOptions,
} from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import { startRedis } from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import { abortable } from '../../src/machinery/cancellation/index.js';
import type { Clock } from '../../src/machinery/clock/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

/** Large enough for the disk to be busy with what came before. */
const VALUE = 'x'.repeat(20_000);
/** Below what has Redis begin another file. */
const WRITES = 3000;

describe('the Redis of a data folder', () => {
  let dataDir: string;
  let redis: RedisProcess;
  let client: Redis;

  let launched: { url: string; pid?: number; isUp: boolean }[];
  const clock = new SystemClock();

  const start = async (more: Partial<RedisProcessOptions> = {}): Promise<RedisProcess> => {
    let isUp = false;
    const started = await startRedis({
      dataDir,
      logFd: openSync(join(dataDir, 'redis.log'), 'a'),
      clock,
      logger: silentLogger,
      onLaunch: (running) => launched.push({ ...running, isUp }),
      ...more,
    });
    isUp = true;
    return started;
  };

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-own-redis-'));
    launched = [];
    redis = await start();
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

  it('is told of before it answers and at each new start, without its password', async () => {
    client.on('error', () => undefined);
    const { port } = new URL(redis.url);
    const first = redis.pid();
    const url = `redis://127.0.0.1:${port}`;
    expect(launched).toEqual([{ url, pid: first, isUp: false }]);
    process.kill(first ?? 0, 'SIGKILL');
    await waitFor(() => launched.length === 2, { what: 'a new Redis' });
    expect(launched[1]).toEqual({ url, pid: redis.pid(), isUp: true });
    expect(redis.pid()).not.toBe(first);
  });

  it('is not started again where it is stopped just after it has died', async () => {
    await redis.stop();
    launched = [];
    const release = Promise.withResolvers<void>();
    let hasDied = false;
    const holding: Clock = Object.assign(Object.create(clock) as Clock, {
      sleep: (ms: number, signal?: AbortSignal) =>
        hasDied ? abortable(release.promise, signal) : clock.sleep(ms, signal),
    });
    const warn = vi.fn();
    const stopped = await start({ clock: holding, logger: { ...silentLogger, warn } });
    hasDied = true;
    process.kill(stopped.pid() ?? 0, 'SIGKILL');
    await waitFor(() => warn.mock.calls.length > 0, { what: 'the pause before the next start' });
    await stopped.stop();
    release.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(launched).toHaveLength(1);
  });

  it('has ended where its start is given up', async () => {
    await redis.stop();
    launched = [];
    // As one that loads for longer than it is waited for.
    const before = process.env['PATH'];
    const bin = join(dataDir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\n[ "$1" = --version ] || exec sleep 600\n', {
      mode: 0o755,
    });
    let aheadMs = 0;
    const impatient: Clock = Object.assign(Object.create(clock) as Clock, {
      monotonicNow: () => clock.monotonicNow() + aheadMs,
      sleep: async (ms: number, signal?: AbortSignal) => {
        aheadMs += 60_000;
        await clock.sleep(ms, signal);
      },
    });
    process.env['PATH'] = `${bin}:${before}`;
    try {
      await expect(start({ clock: impatient })).rejects.toMatchObject({ code: 'STARTUP' });
    } finally {
      process.env['PATH'] = before;
    }
    const [held] = launched;
    expect(held?.pid).toBeGreaterThan(0);
    expect(() => process.kill(held?.pid ?? 0, 0)).toThrow('ESRCH');
  });
});
