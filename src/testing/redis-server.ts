import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '@rollkeeper/machinery/listening';
import { waitFor } from './wait-for.js';

/** A Redis of the test. */
export interface TestRedisServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A real `redis-server` on a loopback port, by default a free one, without persistence. */
export async function startTestRedisServer(wantedPort?: number): Promise<TestRedisServer> {
  const port = wantedPort ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-redis-'));
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir],
    { stdio: 'ignore' },
  );
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  const url = `redis://127.0.0.1:${port}`;
  await waitFor(
    async () => {
      if (failure) throw failure;
      return answersPing(url);
    },
    { what: 'redis-server to answer' },
  );
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode === null) {
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await exited;
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function answersPing(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
