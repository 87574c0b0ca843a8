import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StorageEvent, StorageKey } from '../../src/api-server/storage/index.js';
import { RedisStorage, StorageExpiredError } from '../../src/api-server/storage/index.js';
import { freePort } from '../../src/testing/free-port.js';
import { waitFor } from '../../src/testing/wait-for.js';

/** A Redis that keeps its data, and can be killed and started again at its port. */
class DurableRedis {
  readonly dir = mkdtempSync(join(tmpdir(), 'rollkeeper-redis-'));
  private child: ChildProcess | undefined;

  constructor(private readonly port: number) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  start(): void {
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.dir, ...durable];
    this.child = spawn('redis-server', args, { stdio: 'ignore' });
  }

  async kill(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  forget(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

describe('RedisStorage over a restart of Redis', () => {
  let redis: DurableRedis;
  let storage: RedisStorage;
  let stop: AbortController;
  let running: Promise<void>;
  let events: StorageEvent[];
  let end: unknown;

  beforeEach(async () => {
    redis = new DurableRedis(await freePort());
    redis.start();
    storage = new RedisStorage({ url: redis.url });
    stop = new AbortController();
    running = storage.run(stop.signal);
    await reachable();
    events = [];
    end = undefined;
    void (async () => {
      for await (const together of storage.watch({ resource: 'pods', after: 1 }, stop.signal))
        events.push(...together);
    })().catch((error: unknown) => (end = error));
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await redis.kill();
    redis.forget();
  });

  const reachable = () => waitFor(() => storage.ping().then(() => true).catch(() => false)); // prettier-ignore

  async function create(from: number, to: number): Promise<void> {
    for (let i = from; i < to; i++) await storage.create(pod(`p${i}`), podObject(`p${i}`));
  }

  it('loses nothing that was answered, and its watches go on without a gap', async () => {
    await create(0, 20);
    await redis.kill();
    redis.start();
    await reachable();
    expect((await storage.list('pods')).items).toHaveLength(20);
    await create(20, 30);
    await waitFor(() => events.length === 30 || end !== undefined);
    expect(end).toBeUndefined();
    expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: 30 }, (_, i) => i + 2));
  });

  it('ends watches as expired when Redis comes back without its data, though its revisions overtake the old', async () => {
    await create(0, 20);
    await waitFor(() => events.length === 20);
    await redis.kill();
    redis.forget();
    redis = new DurableRedis(Number(new URL(redis.url).port));
    redis.start();
    await reachable();
    await create(0, 40);
    await waitFor(() => end !== undefined);
    expect(end).toBeInstanceOf(StorageExpiredError);
    expect(events).toHaveLength(20);
  });
});

function pod(name: string): StorageKey {
  return { resource: 'pods', namespace: 'default', name };
}

function podObject(name: string) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
}
