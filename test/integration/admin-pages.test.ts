import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/rollkeeper/admin/server/index.js';
import type { AdminPagesOptions } from '../../src/rollkeeper/doors/admin.js';
import { adminPages } from '../../src/rollkeeper/doors/admin.js';
import type { LogFields } from '../../src/runtime/index.js';
import {
  ConfigMap,
  TerminalError,
  createManager,
  defineController,
  silentLogger,
  typeMeta,
} from '../../src/runtime/index.js';
import type { KeyView } from '../../src/runtime/work-queue/index.js';
import { memoryCoordination } from '../../src/runtime/operator/coordination/memory-coordination.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor as waitForUpTo } from '../../src/testing/wait-for.js';

const waitFor = <T>(what: string, condition: () => Promise<T | undefined | false>) =>
  waitForUpTo(condition, { what, intervalMs: 20 });

const TOKEN = 'a-token-for-these-tests';

describe('the admin pages of a controller that is not one of ours', () => {
  let api: TestCluster;
  let dir: string;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    api = await startTestCluster({ controllers: [], nodes: 0 });
    dir = mkdtempSync(join(tmpdir(), 'rollkeeper-admin-'));
    writeFileSync(join(dir, 'token'), TOKEN);
    await api.client.create(ConfigMap, {
      ...typeMeta(ConfigMap),
      metadata: { name: 'broken', namespace: 'default' },
    });
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });
  afterAll(async () => {
    rmSync(dir, { recursive: true, force: true });
    await api.stop();
  });

  const refuses = () =>
    defineController({
      name: 'refuses',
      for: ConfigMap,
      reconcile: ({ name }) =>
        name === 'broken' ? Promise.reject(new TerminalError('it cannot be mended')) : Promise.resolve(),
    });

  /** One replica, and where its pages are. */
  async function startReplica(
    identity: string,
    where: { readonly prefix: string; readonly inMemory?: boolean },
    options: Partial<AdminPagesOptions> = {},
  ): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const manager = await createManager({
      name: 'pages',
      identity,
      prefix: where.prefix,
      kubeconfig: api.kubeconfig.path,
      ...(where.inMemory
        ? { coordination: memoryCoordination(), onlyProcess: true }
        : { redisUrl: inject('redisUrl') }),
      logger: {
        ...silentLogger,
        info: (message: string, fields?: LogFields) => {
          if (message === 'serving') resolve(String(fields?.['adminUrl']));
        },
      },
      extensions: [adminPages({ port: 0, tokenFile: join(dir, 'token'), ...options })],
    });
    const stopper = new AbortController();
    const running = manager.add(refuses()).run(stopper.signal);
    stops.push(async () => {
      stopper.abort();
      await running;
    });
    return Promise.race([promise, running.then(() => Promise.reject(new Error('it has ended')))]);
  }

  const get = async <T>(url: string): Promise<T> => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(answer.status, url).toBe(200);
    return (await answer.json()) as T;
  };

  it('show every replica, what is parked and why, and let it be tried again', async () => {
    const prefix = randomUUID();
    const urls = await Promise.all(['a', 'b'].map((identity) => startReplica(identity, { prefix })));
    const url = urls[0]!;
    await waitFor('both replicas to find each other', async () => {
      const { replicas } = await get<Pick<ClusterSnapshot, 'replicas'>>(`${url}/admin/replicas`);
      return replicas.length === 2 && replicas.every(({ reachable }) => reachable);
    });
    const parked = await waitFor('the key to be parked', async () => {
      const query = `key=${encodeURIComponent('default/broken')}`;
      return (await get<KeyView>(`${url}/admin/queues/refuses/key?${query}`)).parked;
    });
    expect(JSON.stringify(parked)).toContain('it cannot be mended');
    const requeued = await fetch(`${url}/admin/queues/refuses/requeue`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: 'default/broken' }),
    });
    expect(requeued.ok).toBe(true);
    const { workers } = await get<{ workers: Record<string, number> }>(`${url}/admin/config`);
    expect(workers).toHaveProperty('refuses');
    const page = await fetch(`${url}/console`);
    expect(await page.text()).toContain('<title>');
  });

  it('are served without a Redis of their own as well, over TLS where others can reach them', async () => {
    const url = await startReplica('alone', { prefix: randomUUID(), inMemory: true }, { host: '0.0.0.0' });
    expect(url).toMatch(/^https:/);
  });

  it('refuse options that are wrong by name', () => {
    expect(() => adminPages({ port: 70_000 })).toThrow('adminPages.port');
    expect(() => adminPages({ port: 0, tlsCertFile: 'tls.crt' })).toThrow('adminPages.tlsKeyFile: is needed');
  });

  it('say which option names a token that is none', async () => {
    writeFileSync(join(dir, 'short'), 'short');
    await expect(
      startReplica('c', { prefix: randomUUID() }, { tokenFile: join(dir, 'short') }),
    ).rejects.toThrow('adminPages.tokenFile');
    stops.pop();
  });
});
