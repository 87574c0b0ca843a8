import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/rollkeeper/admin/server/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { Replica } from './support/replica-set-up.js';
import { ReplicaSetUp } from './support/replica-set-up.js';

const ADMIN_TOKEN = 'what-the-replicas-share';

describe('the admin ports of real replicas', () => {
  let redis: TestRedisServer;
  let setUp: ReplicaSetUp;
  let delegated: Replica;
  let plain: Replica;
  let clusterToken: string;

  beforeAll(async () => {
    redis = await startTestRedisServer();
    setUp = new ReplicaSetUp(redis.url);
    await setUp.startApiServer();
    const tokenFile = join(setUp.dataDir, 'admin-token');
    writeFileSync(tokenFile, `${ADMIN_TOKEN}\n`);
    clusterToken = readFileSync(join(setUp.dataDir, 'token'), 'utf8').trim();
    const token = ['--admin-token-file', tokenFile];
    [delegated, plain] = await Promise.all([
      setUp.startReplica('replica-0', [...token, '--admin-auth', 'delegated']),
      setUp.startReplica('replica-1', token),
    ]);
    await waitFor(async () => (await fetch(`${delegated.adminUrl}/readyz`)).ok, {
      what: 'the replica to be ready',
    });
  });

  afterAll(async () => {
    await setUp.stop();
    await redis.stop();
  });

  /** Asks as a user who is not on this machine. */
  const ask = async (replica: Replica, token: string, change?: object): Promise<number> => {
    const path = change ? '/admin/log-level' : '/admin/config';
    const { status } = await fetch(replica.adminUrl + path, {
      method: change ? 'PUT' : 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        'x-forwarded-for': '10.0.0.9',
        ...(change ? { 'content-type': 'application/json' } : {}),
      },
      ...(change ? { body: JSON.stringify(change) } : {}),
    });
    return status;
  };

  it('let in by --admin-auth=delegated whom the API server knows and allows it, to read and to change', async () => {
    expect(await ask(delegated, clusterToken)).toBe(200);
    expect(await ask(delegated, clusterToken, { level: 'info' })).toBe(200);
    expect(await ask(delegated, ADMIN_TOKEN)).toBe(200);
    expect(await ask(delegated, 'guess')).toBe(401);
  });

  it('without it believe the admin token alone', async () => {
    expect(await ask(plain, ADMIN_TOKEN)).toBe(200);
    expect(await ask(plain, clusterToken)).toBe(401);
  });

  it('answer each other by the token that they share', async () => {
    for (const { adminUrl } of [delegated, plain])
      await waitFor(
        async () => {
          const answer = await fetch(`${adminUrl}/admin/replicas`);
          const { replicas } = (await answer.json()) as ClusterSnapshot;
          return replicas.length === 2 && replicas.every(({ reachable }) => reachable);
        },
        { what: 'both replicas to answer' },
      );
  });

  it('stay shut to the cluster’s users while the API server is away', async () => {
    await setUp.stopApiServer();
    // A verdict of the API server counts for ten seconds; there is none about this token.
    expect(await ask(delegated, 'a-token-it-never-saw')).toBe(503);
    expect(await ask(delegated, ADMIN_TOKEN)).toBe(200);
  });
});
