import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import type { Finished } from '../e2e/support/up.js';
import { Up, run } from '../e2e/support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
const dataDir = join(folder, 'data');
const file = join(folder, 'backup.gz');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rollkeeper(...args: string[]): Promise<Finished> {
  return rollkeeperIn(dataDir, ...args);
}

function rollkeeperIn(dir: string, ...args: string[]): Promise<Finished> {
  const env = { ...process.env, REDIS_URL: undefined };
  return run(process.execPath, [MAIN, ...args, '--data-dir', dir], { env });
}

async function revisionOf(client: HttpApiClient): Promise<number> {
  return Number((await client.list<Deployment>(Deployment, {})).resourceVersion);
}

/** Waits until a Deployment says that all its pods are available, and none other is there. */
function available(client: HttpApiClient, name: string, count: number): Promise<Deployment> {
  return waitFor(
    async () => {
      const deployment = await client
        .get<Deployment>(Deployment, { namespace: 'default', name })
        .catch(() => undefined);
      return deployment?.status?.availableReplicas === count ? deployment : undefined;
    },
    { what: `${name} to have ${count} pods` },
  );
}

describe('rollkeeper backup and restore', () => {
  let up: Up | undefined;
  let client: HttpApiClient | undefined;

  afterEach(async () => {
    await client?.close();
    await up?.stop();
    client = up = undefined;
  });

  it('bring back what was there: on a running server, after kills, and from nothing', async () => {
    up = await Up.start({ dataDir });
    client = await up.client();
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 3 }));
    await available(client, 'web', 3);

    // Everything that was acknowledged survives the death of Redis and the API server.
    const { apiServer, redis } = await up.status();
    process.kill(redis!.pid!, 'SIGKILL');
    process.kill(apiServer!.pid, 'SIGKILL');
    await waitFor(
      async () => {
        const now = await up!.status().catch(() => undefined);
        return now?.redis?.pid !== redis!.pid && now?.apiServer?.pid !== apiServer!.pid;
      },
      { intervalMs: 200, what: 'Redis and the API server to be started again' },
    );
    const { metadata } = await available(client, 'web', 3);
    const backup = await rollkeeper('backup', file);
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    expect(backup.stdout).toMatch(/^\d+ objects at resourceVersion \d+ are in /);

    // On a running server it takes the place of the later state, and watchers list again.
    await client.create(Deployment, aDeployment({ name: 'later' }));
    await available(client, 'later', 1);
    const before = await revisionOf(client);
    const refused = await rollkeeper('restore', file);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--replace') as string });
    const half = join(folder, 'half.gz');
    writeFileSync(half, readFileSync(file).subarray(0, 1000));
    const notWhole = await rollkeeper('restore', half, '--replace');
    expect(notWhole).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a whole backup') as string,
    });
    await available(client, 'later', 1);
    expect(await rollkeeper('restore', file, '--replace')).toMatchObject({ code: 0, stderr: '' });
    const { items } = await client.list<Deployment>(Deployment, { namespace: 'default' });
    expect(items.map((item) => item.metadata.name)).toEqual(['web']);
    expect(items[0]?.metadata.uid).toBe(metadata.uid);
    for (const item of items) expect(Number(item.metadata.resourceVersion)).toBeGreaterThan(before);
    // The controllers go on from there: they have seen it, and do what is asked next.
    const scale = { spec: { replicas: 5 } };
    await client.patch(Deployment, { namespace: 'default', name: 'web' }, { type: 'merge', body: scale });
    await available(client, 'web', 5);
    const last = await revisionOf(client);

    // From nothing: no server runs, and its data is gone.
    await client.close();
    await up.stop();
    rmSync(join(dataDir, 'redis'), { recursive: true });
    expect(await rollkeeper('backup', join(folder, 'nothing.gz'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing is kept') as string,
    });
    expect(await rollkeeper('restore', file)).toMatchObject({ code: 0, stderr: '' });
    up = await Up.start({ dataDir, args: ['--replicas', '1'] });
    client = await up.client();
    await available(client, 'web', 3);
    expect(await revisionOf(client)).toBeGreaterThan(last);
    const pods = await client.list<Pod>(Pod, { namespace: 'default' });
    expect(pods.items.map((pod) => pod.metadata.ownerReferences?.[0]?.kind)).toEqual(
      Array(3).fill('ReplicaSet'),
    );
  }, 240_000);

  it('make a running cluster the one of that backup, and its replicas work for that one', async () => {
    const other = { dataDir: join(folder, 'other'), args: ['--replicas', '2'] };
    up = await Up.start(other);
    client = await up.client();
    expect(await rollkeeperIn(other.dataDir, 'restore', file, '--replace')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const scale = { spec: { replicas: 4 } };
    await client.patch(Deployment, { namespace: 'default', name: 'web' }, { type: 'merge', body: scale });
    await available(client, 'web', 4);
    await client.close();
    await up.stop();
    up = await Up.start(other);
    client = await up.client();
    await client.create(Deployment, aDeployment({ name: 'later' }));
    await available(client, 'later', 1);
  }, 240_000);
});
