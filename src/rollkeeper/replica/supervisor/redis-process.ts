import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { chmod, open, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureTokenFile } from '@rollkeeper/apiserver/auth';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage, errorCode } from '@rollkeeper/machinery/errors';
import { makeFolder } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import { assertUsableRedis, describeRedis } from '@rollkeeper/redis/connection';
import { freePort } from '@rollkeeper/machinery/listening';
import { shutDownRedisOf } from './redis-leftover.js';
import type { RunState } from './run-state.js';
import { pause } from '@rollkeeper/machinery/clock';

const FOLDER = 'appendonlydir';
const EVERY_MS = 1000;

interface SyncOptions {
  /** The server's `dir`. */
  readonly dir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Syncs Redis' append-only files to disk once a second, until `signal` aborts. Redis' own `appendfsync everysec` has a
 * gap: while the disk is busy syncing, for up to two seconds, acknowledged writes are only in its memory and lost if it
 * is killed: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/. With `no`, it has written
 * everything that it acknowledged, and this function limits the loss from a machine failure to a second.
 */
export async function keepSynced({ clock, dir, logger }: SyncOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (!(await pause(clock, EVERY_MS, signal))) return;
    await syncAppendOnlyFiles(dir).catch((error: unknown) =>
      logger.warn('what Redis has written cannot be put on the disk, trying again', {
        error: errorMessage(error),
      }),
    );
  }
}

async function syncAppendOnlyFiles(dir: string): Promise<void> {
  for (const name of await readdir(join(dir, FOLDER))) {
    try {
      await syncFile(join(dir, FOLDER, name));
    } catch (error) {
      // Redis has replaced it by another file.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** The Redis for all data: a given one, or a child of ours. */
export interface RedisProcess {
  /** With its password: not for arguments, logs or files that others read. */
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
  /** A former run's Redis, which may still answer. Without a `pid` it was not ours. */
  readonly former?: RunState['redis'];
  /**
   * Called with each server as soon as its process exists, before it answers: if we are killed, the next run must be
   * able to stop it. The URL is without the password.
   */
  readonly onLaunch: (running: NonNullable<RunState['redis']>) => void;
}

/** In the data folder; protects the store from other users. */
const PASSWORD_FILE = 'redis-password';
const STARTUP_TIMEOUT_MS = 20_000;
const RESTART_DELAY_MS = 100;

/** Checks an externally managed Redis. @throws StartupError */
export async function useRedis(url: string, clock: Clock): Promise<RedisProcess> {
  await assertUsableRedis(url, { clock, timeoutMs: 3000, option: 'REDIS_URL' });
  return { url, pid: () => undefined, stop: () => Promise.resolve() };
}

/**
 * Starts our own Redis on a free loopback port, with its data in the data folder and the append-only file enabled, and
 * restarts it on the same port if it dies. Its password is generated once and kept in the data folder, in a file for
 * its owner only; the server receives it on standard input, where no other user can read it.
 * @throws StartupError
 */
export async function startRedis(options: RedisProcessOptions): Promise<RedisProcess> {
  const dir = resolve(join(options.dataDir, 'redis'));
  await makeFolder(dir, { mode: 0o700 });
  await chmod(dir, 0o700);
  await endFormerRedis(options);
  const password = await ensureTokenFile(join(options.dataDir, PASSWORD_FILE));
  const server = new OwnRedis(findServer(), { port: await freePort(), dir, password }, options);
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/**
 * Stops the Redis of a former run on this data folder, if it still exists, before its record is dropped.
 * @throws StartupError if it does not end
 */
export async function endFormerRedis({
  clock,
  dataDir,
  former,
}: Pick<RedisProcessOptions, 'clock' | 'dataDir' | 'former'>): Promise<void> {
  if (former?.pid === undefined) return;
  const url = await ownRedisUrl(dataDir, former.url);
  await shutDownRedisOf(resolve(join(dataDir, 'redis')), { pid: former.pid, url }, clock);
}

/** The URL of the data folder's own Redis, as in `run.json`, with the password of the folder. */
export async function ownRedisUrl(dataDir: string, url: string): Promise<string> {
  return withPassword(url, await ensureTokenFile(join(dataDir, PASSWORD_FILE)));
}

function withPassword(url: string, password: string): string {
  return url.replace('://', `://:${encodeURIComponent(password)}@`);
}

interface OwnRedisPlace {
  readonly port: number;
  readonly dir: string;
  readonly password: string;
}

class OwnRedis implements RedisProcess {
  readonly url: string;
  private child: ChildProcess | undefined;
  private readonly stopping = new AbortController();
  private exited: Promise<void> = Promise.resolve();
  private synced: Promise<void> = Promise.resolve();

  constructor(
    private readonly binary: string,
    private readonly place: OwnRedisPlace,
    private readonly options: RedisProcessOptions,
  ) {
    this.url = withPassword(`redis://127.0.0.1:${place.port}`, place.password);
  }

  pid(): number | undefined {
    return this.child?.pid;
  }

  async start(): Promise<void> {
    this.launch();
    await assertUsableRedis(this.url, { clock: this.options.clock, timeoutMs: STARTUP_TIMEOUT_MS });
    void this.keepAlive();
    this.synced = keepSynced({ ...this.options, dir: this.place.dir }, this.stopping.signal);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.child?.kill('SIGTERM');
    await Promise.all([this.exited, this.synced]);
  }

  private launch(): void {
    const { logFd, onLaunch } = this.options;
    const child = spawn(this.binary, ['-'], { stdio: ['pipe', logFd, logFd], detached: true });
    this.child = child;
    // If it has ended already, it reads nothing: its exit is handled.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(configOf(this.place));
    this.exited = new Promise((resolveExit) => {
      child.once('exit', () => resolveExit());
      child.once('error', () => resolveExit());
    });
    onLaunch({ url: describeRedis(this.url), pid: child.pid });
  }

  private async keepAlive(): Promise<void> {
    const { clock, logger } = this.options;
    const { signal } = this.stopping;
    await this.exited;
    while (!signal.aborted) {
      logger.warn('redis ended; starting it again', {
        exitCode: this.child?.exitCode,
        signal: this.child?.signalCode,
      });
      await clock.sleep(RESTART_DELAY_MS);
      // A caller that has stopped us meanwhile knows only of the server that ended, and would leave this one behind.
      if (isAborted(signal)) return;
      this.launch();
      await this.exited;
    }
  }
}

function configOf({ dir, password, port }: OwnRedisPlace): string {
  const directives = {
    port,
    bind: '127.0.0.1',
    requirepass: password,
    dir,
    appendonly: 'yes',
    // See `keepSynced`.
    appendfsync: 'no',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  // Redis accepts quoted values with JSON's escapes.
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${JSON.stringify(String(value))}\n`)
    .join('');
}

function findServer(): string {
  const found = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (!found) throw new StartupError('no redis-server in PATH; install Redis 7 or newer, or set REDIS_URL');
  return found;
}
