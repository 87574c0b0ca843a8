import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterSnapshot, ReplicaStatus } from '../../src/rollkeeper/admin/server/index.js';
import type { Explanation } from '../../src/rollkeeper/insight/explain/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { SharedUp } from './support/shared-up.js';
import { rollkeeper } from './support/up.js';

const namespace = 'hung-redis';

describe('while Redis hangs', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let redisPid: number;
  let adminUrl: string;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
    await up.createNamespace(client, namespace);
    await client.create(Deployment, aDeployment({ namespace, name: 'web', replicas: 2 }));
    const { redis, replicas } = await up.status();
    redisPid = redis?.pid ?? 0;
    adminUrl = replicas[0]?.adminUrl ?? '';
    await waitFor(
      async () => (await get<Explanation>(`explain/deployments/${namespace}/web`)).state === 'complete',
      {
        timeoutMs: 30_000,
        what: 'the Deployment to be complete',
      },
    );
  });
  afterEach(() => process.kill(redisPid, 'SIGCONT'));
  afterAll(async () => {
    await client?.close();
    await up.give();
  });

  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${adminUrl}/admin/${path}`)).json()) as T;

  it('status, the console and explain say so, and it is over when it answers again', async () => {
    process.kill(redisPid, 'SIGSTOP');
    await waitFor(async () => (await get<ReplicaStatus>('status')).store?.answers === false, {
      timeoutMs: 20_000,
      what: 'the replica to notice',
    });
    // The console reads this.
    expect((await get<ClusterSnapshot>('replicas')).store).toMatchObject({
      answers: false,
      meanwhile: expect.any(String),
    });
    expect(await get<Explanation>(`explain/deployments/${namespace}/web`)).toMatchObject({
      cause: 'store-silent',
      sentence: expect.stringContaining('Redis does not answer since 2'),
    });
    await waitFor(
      async () => {
        const { code, stdout } = await rollkeeper('status', '--data-dir', up.dataDir);
        return code === 1 && stdout.includes('Redis does not answer since 2');
      },
      { timeoutMs: 30_000, what: 'all replicas to have noticed' },
    );
    process.kill(redisPid, 'SIGCONT');
    await waitFor(async () => (await rollkeeper('status', '--data-dir', up.dataDir)).code === 0, {
      timeoutMs: 30_000,
      what: 'status to be well again',
    });
  });
});
