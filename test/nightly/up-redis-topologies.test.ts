import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import type { RedisTopology, ReplicatedTopology } from '../support/redis-topologies.js';
import { startRedisCluster, startSentinelTrio, startTlsRedis } from '../support/redis-topologies.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { Up } from '../e2e/support/up.js';

describe('everything on one machine, with the Redis that somebody has', () => {
  const ends: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  const start = async (redis: RedisTopology): Promise<{ up: Up; client: HttpApiClient }> => {
    ends.push(() => redis.stop());
    const up = await Up.start({ args: ['--replicas', '2'], env: { REDIS_URL: redis.url } });
    ends.push(() => up.stopAndRemove());
    const client = await up.client();
    ends.push(() => client.close());
    return { up, client };
  };
  /** Sets the image, trying again while the store is away, and waits until every pod has it. */
  const rollOut = async (client: HttpApiClient, image: string): Promise<void> => {
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
    const ref = { namespace: 'default', name: 'web' };
    await waitFor(
      () =>
        client.patch(Deployment, ref, { type: 'strategic', body }).then(
          () => true,
          () => false,
        ),
      { intervalMs: 100, what: 'the change to be taken' },
    );
    await waitFor(
      async () => {
        const now = await client.get<Deployment>(Deployment, ref).catch(() => undefined);
        return (
          now?.status?.observedGeneration === now?.metadata.generation &&
          now?.status?.updatedReplicas === 3 &&
          now.status.availableReplicas === 3 &&
          now.status.replicas === 3
        );
      },
      { intervalMs: 100, what: `the rollout of ${image}` },
    );
  };
  /** All texts of the run that others could read: its files, and the command lines of its processes. */
  const everythingReadable = async (up: Up): Promise<string> => {
    const files = readdirSync(up.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    const { apiServer, nodes, replicas } = await up.status();
    const pids = [up.pid, apiServer?.pid, nodes?.pid, ...replicas.map(({ pid }) => pid)];
    const commands = pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    return [...files, ...commands, up.printed, JSON.stringify(await up.status())].join('\n');
  };

  it('rolls out on TLS with an ACL user, and shows its password to nobody', async () => {
    const redis = await startTlsRedis();
    const { client, up } = await start(redis);
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 3 }));
    await rollOut(client, 'web:2');
    const readable = await everythingReadable(up);
    expect(readable).toContain(`rediss://127.0.0.1:${redis.port}`);
    expect(readable).not.toContain(redis.password);
    expect(readable).not.toContain(encodeURIComponent(redis.password));
  });

  it('rolls out on a Cluster', async () => {
    const { client } = await start(await startRedisCluster());
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 3 }));
    await rollOut(client, 'web:2');
  });

  it('goes on with the new master when Sentinels fail over', async () => {
    const redis: ReplicatedTopology = await startSentinelTrio();
    const { client } = await start(redis);
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 3 }));
    await rollOut(client, 'web:2');
    await redis.failOver();
    const failedOverMs = performance.now();
    await rollOut(client, 'web:3');
    console.log(`rolled out ${Math.round(performance.now() - failedOverMs)} ms after the failover`);
  });
});
