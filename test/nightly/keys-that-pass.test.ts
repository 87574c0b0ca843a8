import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { Program } from '../e2e/support/program.js';
import { HeapsAfterGc, bytesOfRedis } from '../support/heaps-after-gc.js';

/**
 * How many keys are made and deleted between the two looks: each takes four requests, and 2 busy cores process about 25 a second.
 * `RUNS=N` for another number.
 */
const KEYS = Number(process.env['RUNS'] ?? 10_000);
/** Fill what has a fixed size: the decisions of 5000 keys. */
const FIRST_KEYS = Math.min(6000, KEYS);
const AT_ONCE = 50;
/** The remains of a key stay for a minute. */
const REST_MS = 70_000;
const MIB = 2 ** 20;

/** ReplicaSets of no pods: a key of which one status is written is what costs least. */
function anEmptySet(name: string): ReplicaSet {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  };
}

describe.each([{ coordination: 'redis' }, { coordination: 'leases' }])(
  'processes of replicas coordinated by $coordination',
  ({ coordination }) => {
    let cluster: TestCluster;
    let redis: TestRedisServer;
    let look: Redis;
    const heaps = new HeapsAfterGc();
    const replicas: Program[] = [];

    const isReconciled = (name: string) => async (): Promise<boolean> => {
      const { metadata, status } = await cluster.client.get<ReplicaSet>(ReplicaSet, {
        ...{ namespace: 'default', name },
      });
      return status?.observedGeneration === metadata.generation;
    };

    const passOne = async (name: string): Promise<void> => {
      await cluster.client.create(ReplicaSet, anEmptySet(name));
      await waitFor(isReconciled(name), { what: `${name} to be reconciled`, timeoutMs: 120_000 });
      await cluster.client.delete(ReplicaSet, { namespace: 'default', name });
    };

    const passMany = async (prefix: string, count: number): Promise<void> => {
      let next = 0;
      const passSome = async (): Promise<void> => {
        while (next < count) await passOne(`${prefix}-${next++}`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, passSome));
    };

    const measure = async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      // Expired remains are forgotten when the next key comes.
      await passOne(`${name}-last`);
      const bytes = await heaps.of(replicas.map(({ process: { pid } }) => pid ?? 0));
      return {
        heaps: bytes.map((each) => each / MIB),
        redisMiB: bytesOfRedis(await look.info('memory')) / MIB,
        keys: await look.dbsize(),
      };
    };

    beforeAll(async () => {
      redis = await startTestRedisServer();
      look = new Redis(redis.url);
      cluster = await startTestCluster({ controllers: [], nodes: 0 });
      for (const name of ['a', 'b']) {
        const args = [
          ...['controller', '--kubeconfig', cluster.kubeconfig.path, '--identity', name],
          ...['--controllers', 'replicaset', '--admin-port', '0'],
          ...(coordination === 'leases' ? ['--coordination', 'leases'] : ['--redis-url', redis.url]),
        ];
        const replica = Program.spawn(name, args, heaps.env);
        replicas.push(replica);
        await replica.untilReady();
      }
    });

    afterAll(async () => {
      for (const replica of replicas) await replica.kill();
      await cluster.stop();
      look.disconnect();
      await redis.stop();
      heaps.remove();
    });

    it(
      'need no more memory, and leave no more in Redis, after many keys that have come and gone',
      { timeout: 3_600_000 },
      async () => {
        await passMany('first', FIRST_KEYS);
        const before = await measure('first');
        await passMany('second', KEYS);
        const after = await measure('second');
        console.log(`${coordination}: ${JSON.stringify({ before, after })}`);
        for (const [at, heap] of before.heaps.entries())
          expect(after.heaps[at], `heap of replica ${at}, MiB`).toBeLessThanOrEqual(1.05 * heap);
        expect(after.redisMiB, 'memory of Redis, MiB').toBeLessThanOrEqual(1.05 * before.redisMiB);
        expect(after.keys, 'keys in Redis').toBeLessThanOrEqual(before.keys + 20);
      },
    );
  },
);
