import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/rollkeeper/admin/server/index.js';
import type { ReplicaLine } from '../../src/rollkeeper/replica/supervisor/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { trustedAgent } from '../../src/tls/index.js';
import { SharedUp } from '../e2e/support/shared-up.js';
import { run } from '../e2e/support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

describe('replicas whose admin ports can be reached from elsewhere', () => {
  let up: SharedUp;
  let token: string;

  beforeAll(async () => {
    up = await SharedUp.take('leases');
    token = await up.adminToken();
  });
  afterAll(() => up.give());

  const first = async (): Promise<ReplicaLine> => {
    const [replica] = (await up.status()).replicas;
    if (!replica) throw new Error('no replica runs');
    return replica;
  };
  /** As who trusts the certificate that the replica is known by. */
  const ask = async ({ adminUrl, certificates = [] }: ReplicaLine, path: string, headers = {}) => {
    const dispatcher = trustedAgent({ by: 'fingerprint', sha256: certificates });
    try {
      const { body, statusCode } = await request(adminUrl + path, { dispatcher, headers });
      return { status: statusCode, text: await body.text() };
    } finally {
      await dispatcher.close();
    }
  };
  const queueShow = (...flags: string[]) =>
    run(process.execPath, [MAIN, 'queue', 'show', 'deployment', ...flags]);

  it('speak TLS and nothing else, and `up` finds them ready and knows who leads', async () => {
    expect(await up.printed()).toMatch(/https:\/\/127\.0\.0\.1:\d+\/console/);
    const { replicas } = await up.status();
    expect(replicas.filter(({ leader }) => leader)).toHaveLength(1);
    const [one, other] = replicas.map(({ certificates }) => certificates?.[0]);
    expect(one).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    expect(other).not.toBe(one);
    const { adminUrl } = await first();
    await expect(fetch(adminUrl.replace('https', 'http'))).rejects.toThrow();
  });

  it('answer each other', async () => {
    for (const replica of (await up.status()).replicas)
      await waitFor(
        async () => {
          const { text } = await ask(replica, '/admin/replicas');
          const { replicas } = JSON.parse(text) as ClusterSnapshot;
          return replicas.length === 2 && replicas.every(({ reachable }) => reachable);
        },
        { what: 'both replicas to answer' },
      );
  });

  it('show metrics to those alone who may read them, and answer probes of everybody', async () => {
    const replica = await first();
    const elsewhere = { 'x-forwarded-for': '10.0.0.9' };
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await ask(replica, path, { ...elsewhere, ...headers })).status;
    expect(await statusOf('/livez')).toBe(200);
    expect(await statusOf('/metrics')).toBe(401);
    expect(await statusOf('/metrics', { authorization: `Bearer ${token}` })).toBe(200);
  });

  it('are asked by the command line: those of `up` as they are, others once it is said whom to trust', async () => {
    expect(await queueShow('--data-dir', up.dataDir)).toMatchObject({ code: 0 });
    const { adminUrl, certificates = [] } = await first();
    const named = ['--admin-url', adminUrl, '--admin-token-file', join(up.dataDir, 'admin-token')];
    const refused = await queueShow(...named);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--admin-cert-fingerprint');
    const pinned = ['--admin-cert-fingerprint', certificates[0] ?? ''];
    expect(await queueShow(...named, ...pinned)).toMatchObject({ code: 0 });
    expect((await queueShow(...named, '--admin-cert-fingerprint', 'ab'.repeat(32))).stderr).toContain(
      'another certificate',
    );
    expect((await queueShow(...named, ...pinned, '--insecure-skip-tls-verify')).stderr).toContain(
      'only one of them',
    );
  });

  it('are found again when they come back with another certificate', async () => {
    const before = await first();
    process.kill(before.pid, 'SIGKILL');
    const after = await waitFor(
      async () => {
        const replica = await first().catch(() => undefined);
        return replica && replica.pid !== before.pid && replica.identity === before.identity && replica;
      },
      { what: 'the replica to come back' },
    );
    expect(after.certificates).not.toEqual(before.certificates);
    expect((await ask(after, '/livez')).status).toBe(200);
    expect(await queueShow('--data-dir', up.dataDir)).toMatchObject({ code: 0 });
  });
});
