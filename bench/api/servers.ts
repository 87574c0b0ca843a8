import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { withMemoryDefaults } from '../../src/machinery/process/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { RedisProcess } from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import { startRedis } from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import type { HttpTarget } from './http-connection.js';
import type { LoadJob, LoadResult } from './load.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const TSX = ['--conditions=rollkeeper:source', '--import', 'tsx'];

export interface ApiServersOptions {
  /** Further arguments of the API server's Node. */
  readonly execArgv: readonly string[];
  /** The program, `dist/main.js`. @default the one built here */
  readonly main?: string;
}

/** An API server and its Redis, a bare HTTPS server, and the load generator: one process each, and nothing else. */
export class ApiServers {
  private readonly children: ChildProcess[] = [];

  private constructor(
    private readonly dataDir: string,
    readonly redis: RedisProcess,
  ) {}

  apiPid = 0;
  api!: HttpTarget;
  floor!: HttpTarget;
  private floorPid = 0;
  private load!: ChildProcess;

  static async start({ execArgv, main = MAIN }: ApiServersOptions): Promise<ApiServers> {
    const dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-bench-api-'));
    const logFd = openSync(join(dataDir, 'log'), 'a');
    const clock = new SystemClock();
    const redis = await startRedis({
      dataDir,
      logFd,
      clock,
      logger: silentLogger,
      onLaunch: () => undefined,
    });
    const servers = new ApiServers(dataDir, redis);
    try {
      await servers.startChildren({ execArgv, main }, logFd);
      return servers;
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  /** The kubeconfig of processes that are started beside the API server. */
  get kubeconfig(): string {
    return join(this.dataDir, 'kubeconfig');
  }

  /** The process behind a target. */
  pidOf(target: HttpTarget): number {
    return target === this.floor ? this.floorPid : this.apiPid;
  }

  /** Has the load generator do a job. */
  async run(job: LoadJob): Promise<LoadResult> {
    const { load } = this;
    const done = new Promise<{ result?: LoadResult; error?: string }>((resolve) =>
      load.once('message', resolve),
    );
    load.send(job);
    const { error, result } = await done;
    if (!result) throw new Error(error);
    return result;
  }

  async stop(): Promise<void> {
    await Promise.all(this.children.map(stopChild));
    await this.redis.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private async startChildren({ execArgv, main }: Required<ApiServersOptions>, logFd: number): Promise<void> {
    const { dataDir } = this;
    const start = (file: string, args: string[], options: readonly string[]): ChildProcess => {
      const child = fork(file, args, {
        execArgv: [...options],
        env: withMemoryDefaults({ ...process.env, REDIS_URL: this.redis.url }),
        stdio: ['ignore', logFd, 'inherit', 'ipc'],
      });
      this.children.push(child);
      return child;
    };
    const args = ['--port', '0', '--data-dir', dataDir, '--kubeconfig', this.kubeconfig];
    const server = start(main, ['apiserver', ...args], execArgv);
    const { url } = await ready(server);
    const [token, ca] = ['token', 'ca.crt'].map((name) => readFileSync(join(dataDir, name), 'utf8').trim());
    this.apiPid = server.pid ?? 0;
    this.api = { port: Number(new URL(String(url)).port), ca: ca ?? '', token: token ?? '' };
    const certificate = ['apiserver.crt', 'apiserver.key'].map((name) => join(dataDir, name));
    const floor = start(join(import.meta.dirname, 'floor-server.ts'), certificate, TSX);
    this.floorPid = floor.pid ?? 0;
    this.floor = { ...this.api, port: Number((await ready(floor)).port) };
    this.load = start(join(import.meta.dirname, 'load.ts'), [], TSX);
  }
}

function ready(child: ChildProcess): Promise<{ url?: string; port?: number }> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a process ended with ${code}`)));
    child.on('message', (message: { type: string; url?: string; port?: number }) => {
      if (message.type === 'ready') resolve(message);
    });
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
