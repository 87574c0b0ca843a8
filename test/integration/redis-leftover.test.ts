import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../src/machinery/listening.js';
import { shutDownRedisOf } from '../../src/rollkeeper/replica/supervisor/redis-leftover.js';
import type { Clock } from '../../src/machinery/clock/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

const clock = new SystemClock();
/** For one that is held up: it is not to be waited for here. */
const SHORT = { answerMs: 200, patienceMs: 500 };

describe('the Redis that a killed run has left behind', () => {
  let dir: string;
  let server: ChildProcess;
  let ended: Promise<unknown>;
  let leftover: { url: string; pid: number };

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'rollkeeper-leftover-'));
    const port = await freePort();
    const flags = { '--port': String(port), '--dir': dir, '--appendonly': 'yes', '--requirepass': 'right' };
    server = spawn('redis-server', Object.entries(flags).flat(), { stdio: 'ignore' });
    ended = once(server, 'exit');
    leftover = { url: `redis://:right@127.0.0.1:${port}`, pid: server.pid ?? 0 };
    await waitFor(async () => (await say(['PING'])) === 'PONG', { what: 'Redis' });
  });

  afterEach(async () => {
    server.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });

  const say = async ([command = '', ...args]: string[]): Promise<unknown> => {
    const client = new Redis(leftover.url, { lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.call(command, ...args);
    } catch (error) {
      return error;
    } finally {
      client.disconnect();
    }
  };
  const hasEnded = (): boolean => server.exitCode !== null || server.signalCode !== null;

  it('has ended before another one begins on its files', async () => {
    await shutDownRedisOf(dir, leftover, clock);
    await ended;
    expect(server.exitCode).toBe(0);
  });

  it('is asked again while it does not answer', async () => {
    server.kill('SIGSTOP');
    const resuming: Clock = Object.assign(Object.create(clock) as Clock, {
      sleep: async (ms: number) => {
        server.kill('SIGCONT');
        await clock.sleep(ms);
      },
    });
    await shutDownRedisOf(dir, leftover, resuming, { answerMs: 200 });
    await ended;
    expect(server.exitCode).toBe(0);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['does not answer', async () => server.kill('SIGSTOP'), /does not end \(.*timed out\); end it first$/],
    [
      'takes another password',
      () => say(['CONFIG', 'SET', 'requirepass', 'other']),
      /does not take the password kept for/,
    ],
    [
      'may not be told to end',
      () => say(['ACL', 'SETUSER', 'default', '-shutdown']),
      /does not end \(NOPERM.*\); end it first$/,
    ],
  ])('is named where it %s, and nothing begins beside it', async (_name, make, message) => {
    await make();
    const refused = shutDownRedisOf(dir, leftover, clock, SHORT);
    await expect(refused).rejects.toMatchObject({
      code: 'STARTUP',
      message: expect.stringMatching(message) as string,
    });
    await expect(refused).rejects.toThrow(`a Redis of a former run (process ${leftover.pid})`);
    expect(hasEnded()).toBe(false);
  });

  it('is left alone where its data are elsewhere', async () => {
    await shutDownRedisOf(`${dir}-other`, leftover, clock, SHORT);
    expect(await say(['PING'])).toBe('PONG');
  });

  it('keeps nobody where its port belongs to somebody else by now, or to nobody', async () => {
    const others = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => others.listen(0, '127.0.0.1', resolve));
    const { port } = others.address() as AddressInfo;
    await shutDownRedisOf(dir, { ...leftover, url: `redis://:right@127.0.0.1:${port}` }, clock, SHORT);
    await new Promise((resolve) => others.close(resolve));
    await shutDownRedisOf(dir, { ...leftover, url: `redis://:right@127.0.0.1:${port}` }, clock, SHORT);
    expect(hasEnded()).toBe(false);
  });
});
