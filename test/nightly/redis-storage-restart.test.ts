import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StorageEvent, StorageKey } from '../../src/apiserver/storage/index.js';
import { RedisStorage, StorageExpiredError, isStorageExists } from '../../src/apiserver/storage/index.js';
import { freePort } from '../../src/machinery/listening.js';
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

  /** Copies the files as a disk would have them that has not got the rest yet. */
  saveTo(dir: string): void {
    cpSync(this.dir, dir, { recursive: true });
  }

  /** Call it only while the server does not run. */
  putBack(dir: string): void {
    rmSync(this.dir, { recursive: true, force: true });
    cpSync(dir, this.dir, { recursive: true });
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
  let start: number;

  beforeEach(async () => {
    redis = new DurableRedis(await freePort());
    redis.start();
    storage = new RedisStorage({ url: redis.url, commandTimeoutMs: 500 });
    stop = new AbortController();
    running = storage.run(stop.signal);
    await reachable();
    events = [];
    start = await storage.currentRevision();
    end = undefined;
    void (async () => {
      for await (const together of storage.watch({ resource: 'pods', after: start }, stop.signal))
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

  async function create(from: number, to: number): Promise<number[]> {
    const revisions: number[] = [];
    for (let i = from; i < to; i++)
      revisions.push((await storage.create(pod(`p${i}`), podObject(`p${i}`))).revision);
    return revisions;
  }

  it('loses nothing that was answered, and its watches go on without a gap', async () => {
    const before = await create(0, 20);
    await redis.kill();
    redis.start();
    await reachable();
    expect((await storage.list('pods')).items).toHaveLength(20);
    const after = await create(20, 30);
    await waitFor(() => events.length === 30 || end !== undefined);
    expect(end).toBeUndefined();
    expect(events.map(({ revision }) => revision)).toEqual([...before, ...after]);
  });

  it('has the secret of before, as has another process on the same Redis', async () => {
    const secret = await storage.secret();
    await redis.kill();
    redis.start();
    await reachable();
    expect(await storage.secret()).toEqual(secret);
    const other = new RedisStorage({ url: redis.url, commandTimeoutMs: 500 });
    const stopOther = new AbortController();
    const runningOther = other.run(stopOther.signal);
    expect(await other.secret()).toEqual(secret);
    stopOther.abort();
    await runningOther;
  });

  it('loses no acknowledged write, repeats and skips no event, and uses no revision twice, in 20 kills under load', async () => {
    const acknowledged = new Map<string, number>();
    const stopWriting = new AbortController();
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; !stopWriting.signal.aborted; i++) {
        const name = `w${writer}-${i}`;
        // The write is retried until it is known to have happened, as an unanswered one may have.
        for (;;) {
          try {
            acknowledged.set(name, (await storage.create(pod(name), podObject(name))).revision);
            break;
          } catch (error) {
            if (isStorageExists(error)) break;
          }
        }
      }
    };
    const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
    for (let kill = 0; kill < 20; kill++) {
      const before = acknowledged.size;
      await waitFor(() => acknowledged.size > before + 20, { what: 'writes between two kills' });
      await redis.kill();
      redis.start();
      await reachable();
    }
    stopWriting.abort();
    await Promise.all(writers);
    const { items } = await storage.list('pods');
    const stored = new Map(items.map(({ object, revision }) => [object.metadata.name, revision]));
    for (const [name, revision] of acknowledged) expect([name, stored.get(name)]).toEqual([name, revision]);
    expect(new Set(stored.values()).size).toBe(stored.size);
    await waitFor(() => events.length >= stored.size || end !== undefined, { what: 'all events' });
    expect(end).toBeUndefined();
    const inOrder = [...stored.values()].sort((a, b) => a - b);
    expect(events.map(({ revision }) => revision)).toEqual(inOrder);
  }, 120_000);

  it('hands out no revision twice when Redis comes back without its last writes, which nobody remembers', async () => {
    await create(0, 5);
    const saved = mkdtempSync(join(tmpdir(), 'rollkeeper-saved-'));
    redis.saveTo(saved);
    const lost = await create(5, 25);
    await waitFor(() => events.length === 25);
    stop.abort();
    await running;
    await redis.kill();
    redis.putBack(saved);
    rmSync(saved, { recursive: true });
    redis.start();
    storage = new RedisStorage({ url: redis.url, commandTimeoutMs: 500 });
    stop = new AbortController();
    running = storage.run(stop.signal);
    await reachable();
    expect((await storage.list('pods')).items).toHaveLength(5);
    expect(await storage.currentRevision()).toBeGreaterThan(lost.at(-1)!);
    const [next] = await create(5, 6);
    expect(next).toBeGreaterThan(lost.at(-1)!);
    // A watcher that saw lost writes must list again; one that saw only kept ones goes on.
    const fromLost = storage.watch({ resource: 'pods', after: lost[3]! }, stop.signal);
    await expect(fromLost[Symbol.asyncIterator]().next()).rejects.toThrow(StorageExpiredError);
    const fromKept = storage.watch({ resource: 'pods', after: events[4]!.revision }, stop.signal);
    const [first] = (await fromKept[Symbol.asyncIterator]().next()).value as StorageEvent[];
    expect(first?.revision).toBe(next);
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
