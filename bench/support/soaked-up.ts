import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { Up } from '../../test/e2e/support/up.js';
import { HeapsAfterGc, bytesOfRedis } from '../../test/support/heaps-after-gc.js';

/** By what has it: MiB of heap that is left after a garbage collection, MiB of Redis' memory, and keys in Redis. */
export type Figures = ReadonlyMap<string, number>;

export const KEYS_IN_REDIS = 'keys in Redis';
export const REDIS = 'Redis';

export interface SoakedUpOptions {
  readonly main: string;
  readonly replicas: number;
}

interface SoakedUpParts {
  readonly up: Up;
  readonly client: HttpApiClient;
  readonly heaps: HeapsAfterGc;
  readonly replicas: readonly string[];
  /** By what is shown of them. */
  readonly pids: ReadonlyMap<string, number>;
  readonly redis: Redis;
}

/** A `rollkeeper up`, as `npm start` runs it, whose memory is looked at. */
export class SoakedUp {
  private constructor(private readonly parts: SoakedUpParts) {}

  static async start({ main, replicas }: SoakedUpOptions): Promise<SoakedUp> {
    const heaps = new HeapsAfterGc();
    const up = await Up.start({ main, args: ['--replicas', String(replicas)], env: heaps.env });
    const status = await up.status();
    const identities = status.replicas.map(({ identity }) => identity);
    const pids = new Map(status.replicas.map(({ identity, pid }) => [identity, pid]));
    pids.set('API server', status.apiServer?.pid ?? 0).set('nodes', status.nodes?.pid ?? 0);
    pids.set('up', up.pid);
    const password = readFileSync(join(up.dataDir, 'redis-password'), 'utf8').trim();
    const redis = new Redis(status.redis?.url ?? '', { password });
    return new SoakedUp({ up, client: await up.client(), heaps, replicas: identities, pids, redis });
  }

  get client(): HttpApiClient {
    return this.parts.client;
  }

  /** The replicas, by identity. */
  get replicas(): readonly string[] {
    return this.parts.replicas;
  }

  /** Makes this replica the leader: the others are paused until it is. */
  async giveLeadTo(identity: string): Promise<void> {
    const { pids, replicas, up } = this.parts;
    const others = replicas.filter((each) => each !== identity).map((each) => pids.get(each) ?? 0);
    for (const pid of others) process.kill(pid, 'SIGSTOP');
    try {
      await waitFor(
        async () => (await up.status()).replicas.some((each) => each.identity === identity && each.leader),
        {
          timeoutMs: 60_000,
          what: `${identity} to lead`,
        },
      );
    } finally {
      for (const pid of others) process.kill(pid, 'SIGCONT');
    }
  }

  async measure(): Promise<Figures> {
    const { heaps, pids, redis } = this.parts;
    const bytes = await heaps.of([...pids.values()]);
    const figures = new Map([...pids.keys()].map((name, at) => [name, (bytes[at] ?? NaN) / 2 ** 20]));
    figures.set(REDIS, bytesOfRedis(await redis.info('memory')) / 2 ** 20);
    figures.set(KEYS_IN_REDIS, await redis.dbsize());
    return figures;
  }

  async stop(): Promise<void> {
    const { client, heaps, redis, up } = this.parts;
    redis.disconnect();
    await client.close();
    await up.stopAndRemove();
    heaps.remove();
  }
}
