import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../clock/index.js';
import { StartupError } from '../errors/index.js';
import type { Logger } from '../logging/index.js';
import { assertUsableRedis } from '../redis/index.js';
import { freePort } from './free-port.js';
import { shutDownRedisOf } from './redis-leftover.js';

/** A Redis to keep everything in: one that was named, or a child of ours. */
export interface RedisProcess {
  readonly url: string;
  /** Absent for a server that is not ours. */
  pid(): number | undefined;
  stop(): Promise<void>;
}

export interface RedisProcessOptions {
  readonly dataDir: string;
  readonly logFd: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The URL under which a former run's own Redis may still answer. */
  readonly formerUrl?: string;
  readonly onChange: () => void;
}

const STARTUP_TIMEOUT_MS = 20_000;
const RESTART_DELAY_MS = 100;

/** Checks a Redis that somebody else runs. @throws StartupError */
export async function useRedis(url: string, clock: Clock): Promise<RedisProcess> {
  await assertUsableRedis(url, { clock, timeoutMs: 3000, option: 'REDIS_URL' });
  return { url, pid: () => undefined, stop: () => Promise.resolve() };
}

/**
 * Starts a Redis of our own on a free loopback port, with its data under the data folder and the append-only file
 * on, and starts it again, on the same port, should it die.
 * @throws StartupError
 */
export async function startRedis(options: RedisProcessOptions): Promise<RedisProcess> {
  const dir = resolve(join(options.dataDir, 'redis'));
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (options.formerUrl) await shutDownRedisOf(dir, options.formerUrl, options.clock);
  const server = new OwnRedis(findServer(), await freePort(), dir, options);
  await server.start();
  return server;
}

class OwnRedis implements RedisProcess {
  readonly url: string;
  private child: ChildProcess | undefined;
  private stopping = false;
  private exited: Promise<void> = Promise.resolve();

  constructor(
    private readonly binary: string,
    private readonly port: number,
    private readonly dir: string,
    private readonly options: RedisProcessOptions,
  ) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  pid(): number | undefined {
    return this.child?.pid;
  }

  async start(): Promise<void> {
    this.launch();
    await assertUsableRedis(this.url, { clock: this.options.clock, timeoutMs: STARTUP_TIMEOUT_MS });
    void this.keepAlive();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.child?.kill('SIGTERM');
    await this.exited;
  }

  private launch(): void {
    const args = [
      ...['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.dir],
      ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
      ...['--maxmemory-policy', 'noeviction', '--daemonize', 'no'],
    ];
    const child = spawn(this.binary, args, {
      stdio: ['ignore', this.options.logFd, this.options.logFd],
      detached: true,
    });
    this.child = child;
    this.exited = new Promise((resolveExit) => {
      child.once('exit', () => resolveExit());
      child.once('error', () => resolveExit());
    });
  }

  private async keepAlive(): Promise<void> {
    const { clock, logger, onChange } = this.options;
    for (;;) {
      await this.exited;
      if (this.stopping) return;
      logger.warn('redis ended; starting it again', {
        exitCode: this.child?.exitCode,
        signal: this.child?.signalCode,
      });
      await clock.sleep(RESTART_DELAY_MS);
      this.launch();
      onChange();
    }
  }
}

function findServer(): string {
  const found = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (!found) throw new StartupError('no redis-server in PATH; install Redis 7 or newer, or set REDIS_URL');
  return found;
}
