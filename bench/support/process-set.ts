import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StorageRecord } from '../../src/apiserver/index.js';
import { RedisStorage, writeKubeconfig } from '../../src/apiserver/index.js';
import { readCredentials } from '../../src/rollkeeper/replica/supervisor/credentials.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { withMemoryDefaults } from '../../src/machinery/process/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../src/client/api-client/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { ManagedProcess } from '../../test/chaos/set/managed-process.js';

export const ROLES = ['controller', 'apiserver', 'node'] as const;
export type Role = (typeof ROLES)[number];

export interface ProcessSetOptions {
  /** The built program. */
  readonly main: string;
  readonly env: NodeJS.ProcessEnv;
  /** The objects in the store before the API server starts. @default nothing */
  readonly objects?: AsyncIterable<StorageRecord>;
}

/** Redis, an API server, and what is added to them, each a process. */
export class ProcessSet {
  private readonly dir = mkdtempSync(join(tmpdir(), 'rollkeeper-memory-'));
  private readonly processes = new Map<Role, ManagedProcess>();
  private readonly clients: HttpApiClient[] = [];

  private constructor(
    private readonly options: ProcessSetOptions,
    private readonly redis: TestRedisServer,
  ) {}

  static async start(options: ProcessSetOptions): Promise<ProcessSet> {
    const set = new ProcessSet(options, await startTestRedisServer());
    if (options.objects) await set.fill(options.objects);
    await set.add('apiserver', ['--port', '0', '--data-dir', set.dir, '--redis-url', set.redis.url]);
    const server = set.processes.get('apiserver')?.url ?? '';
    await writeKubeconfig({ path: set.kubeconfig, server, ...(await readCredentials(set.dir)) });
    return set;
  }

  async add(role: Role, args: readonly string[] = ['--kubeconfig', this.kubeconfig]): Promise<void> {
    const { dir } = this;
    const { main } = this.options;
    const env = withMemoryDefaults({ ...process.env, ...this.options.env });
    const logFile = join(dir, `${role}.log`);
    const added = new ManagedProcess({ name: role, main, args: [role, ...args], env, logFile });
    this.processes.set(role, added);
    await added.start();
  }

  /** Seconds until it is ready. */
  async addReplica(args: readonly string[] = []): Promise<number> {
    const startedMs = performance.now();
    await this.add('controller', ['--kubeconfig', this.kubeconfig, '--redis-url', this.redis.url, ...args]);
    const readyz = `${this.processes.get('controller')?.adminUrl}/readyz`;
    const isReady = async (): Promise<boolean> =>
      (await fetch(readyz).catch(() => undefined))?.status === 200;
    await waitFor(isReady, { timeoutMs: 120_000, intervalMs: 10, what: 'the replica to be ready' });
    return (performance.now() - startedMs) / 1000;
  }

  async client(): Promise<HttpApiClient> {
    const clock = new SystemClock();
    const connection = await loadKubeconfig({ path: this.kubeconfig, clock });
    const client = createHttpApiClient({ connection, clock, logger: silentLogger, userAgent: 'bench' });
    this.clients.push(client);
    return client;
  }

  /** The folder of its files. */
  get folder(): string {
    return this.dir;
  }

  get kubeconfig(): string {
    return join(this.dir, 'kubeconfig');
  }

  get redisUrl(): string {
    return this.redis.url;
  }

  /** The URL of the admin pages of a process that has them. */
  adminUrlOf(role: Role): string {
    return this.processes.get(role)?.adminUrl ?? '';
  }

  get redisPid(): number {
    return this.redis.pid;
  }

  pidOf(role: Role): number {
    return this.processes.get(role)?.pid ?? 0;
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    for (const each of [...this.processes.values()].reverse()) await each.stop();
    await this.redis.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async fill(objects: AsyncIterable<StorageRecord>): Promise<void> {
    const storage = new RedisStorage({
      url: this.redis.url,
      clock: new SystemClock(),
      commandTimeoutMs: 60_000,
    });
    const filled = new AbortController();
    const running = storage.run(filled.signal);
    await storage.replaceAll(objects);
    filled.abort();
    await running;
  }
}
