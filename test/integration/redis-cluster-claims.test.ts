import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';
import { Deployment, createManager, defineController, silentLogger } from '../../src/runtime/index.js';
import type { CreateManagerOptions } from '../../src/runtime/index.js';
import { RedisClusterClaims } from '../../src/redis/operator/redis-cluster-claims.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { runClusterClaimsContract } from '../../src/testing/cluster-claims-contract.js';
import { waitFor } from '../../src/testing/wait-for.js';

const clock = new SystemClock();
const { signal } = new AbortController();

runClusterClaimsContract('RedisClusterClaims', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const links = [0, 1].map(() =>
    createRedisConnection({ url: inject('redisUrl'), connectionName: 'claims', logger: silentLogger }),
  );
  const [a, b] = links.map((link) => new RedisClusterClaims({ redis: () => link, keyPrefix, clock }));
  return {
    replicas: [a!, b!],
    stop: async () => {
      for (const link of links) link.disconnect();
    },
  };
});

describe('a cluster that takes over the keys of another', () => {
  it('keeps nothing of its queues and actors, and all of its objects and of other installations', async () => {
    const redis = new Redis(inject('redisUrl'));
    const keyPrefix = `test-[${randomUUID()}]`;
    const gone = [`{${keyPrefix}:queue:deployment}:wait`, `{${keyPrefix}:actor:deployment:default/web}`];
    const kept = [
      `${keyPrefix}:{storage}:objects`,
      `${keyPrefix}:lease:leader`,
      `{${keyPrefix}-2:queue:deployment}:wait`,
    ];
    await redis.mset(Object.fromEntries([...gone, ...kept].map((key) => [key, 'x'])));
    const claims = new RedisClusterClaims({ redis: () => redis, keyPrefix, clock });
    await claims.claim('one');
    expect(await claims.replace('one', 'two', signal)).toBe('two');
    expect(await redis.exists(...gone)).toBe(0);
    expect(await redis.exists(...kept)).toBe(kept.length);
    expect(await redis.exists(`${keyPrefix}:cluster:replacing`)).toBe(0);
    redis.disconnect();
  });
});

describe('managers of two clusters on one Redis and one prefix', () => {
  const clusters: TestCluster[] = [];
  beforeAll(async () => {
    for (let index = 0; index < 2; index++)
      clusters.push(await startTestCluster({ controllers: [], nodes: 0 }));
  });
  afterAll(async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  });

  const manager = async (index: number, prefix: string, cluster?: CreateManagerOptions['cluster']) => {
    const created = await createManager({
      name: 'guarded',
      kubeconfig: clusters[index]?.kubeconfig.path,
      redisUrl: inject('redisUrl'),
      prefix,
      logger: silentLogger,
      ...(cluster && { cluster }),
    });
    return created.add(
      defineController({
        name: 'idle',
        for: Deployment,
        reconcile: () => Promise.resolve({}),
      }),
    );
  };
  const uidOf = async (index: number): Promise<string> => {
    const found = await clusters[index]?.get('namespaces/kube-system');
    return found?.metadata.uid ?? '';
  };

  it('work for the first of them alone, until the second replaces it', async () => {
    const prefix = `test-${randomUUID()}`;
    const over = new AbortController();
    const first = await manager(0, prefix);
    const running = first.run(over.signal);
    await waitFor(() => first.isLeader, { what: 'the first leader' });

    const [one, two] = [await uidOf(0), await uidOf(1)];
    const refused = (await manager(1, prefix)).run(signal);
    await expect(refused).rejects.toThrow(`of the cluster ${one}, and this is the cluster ${two}`);
    await expect(refused).rejects.toMatchObject({ code: 'STARTUP' });
    expect(first.state).toBe('running');
    over.abort();
    await running;

    const stop = new AbortController();
    const second = await manager(1, prefix, { replaces: one });
    const runningSecond = second.run(stop.signal);
    await waitFor(() => second.isLeader, { what: 'the second leader' });
    await expect((await manager(0, prefix)).run(signal)).rejects.toThrow(`of the cluster ${two}`);
    stop.abort();
    await runningSecond;
  });
});
