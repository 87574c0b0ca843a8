import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { waitFor } from '../../src/testing/wait-for.js';
import { pidsOf, takePort } from './support/processes.js';
import { SharedUp } from './support/shared-up.js';
import { MAIN, rollkeeper, run } from './support/up.js';

const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('rollkeeper up, once it runs', () => {
  let up: SharedUp;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
  });
  afterAll(() => up.give());

  it('says what to type next, and writes a kubeconfig that only its user can read', async () => {
    expect(await up.printed()).toContain(`export KUBECONFIG=${up.kubeconfig}`);
    expect(statSync(up.kubeconfig).mode & 0o777).toBe(0o600);
    const status = await up.status();
    expect(status.replicas).toHaveLength(3);
    expect(status.replicas.filter(({ leader }) => leader)).toHaveLength(1);
    expect(status.apiServer?.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  it('is shown by `rollkeeper status`, as a table and as JSON', async () => {
    const leader = await up.leader();
    const table = await rollkeeper('status', '--data-dir', up.dataDir);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^PROCESS +PID +ROLE +URL\n/);
    expect(table.stdout).toMatch(new RegExp(`^${leader.identity} +${leader.pid} +leader +`, 'm'));
    const json = await rollkeeper('status', '--data-dir', up.dataDir, '--json');
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toEqual(await up.status());
  });

  it('is said by `rollkeeper status` not to run where it does not', async () => {
    const nothing = await rollkeeper('status', '--data-dir', join(folder, 'nothing'));
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain(`nothing is running from ${join(folder, 'nothing')}`);
  });

  it('is what commands look at where kubectl would find no cluster, and only there', async () => {
    const problems = (env: Readonly<Record<string, string>>) =>
      run(process.execPath, [MAIN, 'problems', '-n', 'empty', '--data-dir', up.dataDir], {
        env: { HOME: folder, ...env },
      });
    expect(await problems({})).toMatchObject({ code: 0, stderr: '' });
    const missing = join(folder, 'missing');
    expect(await problems({ KUBECONFIG: missing })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(missing) as string,
    });
  });

  it('lets no other user into what it has: files, and the store past the token', async () => {
    const isOpen = (path: string): boolean =>
      // Redis and the supervisor replace files while this looks.
      ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
    const files = readdirSync(up.dataDir, { recursive: true, withFileTypes: true });
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => isOpen(join(file.parentPath, file.name)))).toEqual([]);
    expect(isOpen(up.dataDir)).toBe(false);

    const { redis } = await up.status();
    const password = readFileSync(join(up.dataDir, 'redis-password'), 'utf8').trim();
    const stranger = new Redis(redis?.url ?? '', { lazyConnect: true, retryStrategy: () => null });
    stranger.on('error', () => undefined);
    await expect(stranger.keys('*')).rejects.toThrow('NOAUTH');
    stranger.disconnect();
    for (const pid of await pidsOf(up))
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password);
    const others = files.filter((file) => file.isFile() && file.name !== 'redis-password');
    for (const { name, parentPath } of others)
      expect(textOf(join(parentPath, name)).includes(password), name).toBe(false);
    expect(await up.printed()).not.toContain(password);
  });
});

describe('a replica that is killed', () => {
  let up: SharedUp;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
  });
  afterAll(() => up.give());

  const again = async (former: { identity: string; pid: number }): Promise<string> =>
    waitFor(
      async () =>
        (await up.status()).replicas.find(
          ({ identity, pid }) => identity === former.identity && pid !== former.pid,
        )?.adminUrl,
      { intervalMs: 50, what: `${former.identity} to come back` },
    );

  it('comes back where its console was, or elsewhere when its port was taken meanwhile', async () => {
    const [first, second] = (await up.status()).replicas;
    if (!first || !second) throw new Error('no replicas');
    expect(await up.printed()).toContain(`${first.adminUrl}/console`);
    process.kill(first.pid, 'SIGKILL');
    expect(await again(first)).toBe(first.adminUrl);
    expect((await fetch(`${first.adminUrl}/console`)).status).toBe(200);

    process.kill(second.pid, 'SIGKILL');
    const taker = await takePort(second.adminUrl);
    const elsewhere = await again(second);
    expect(elsewhere).not.toBe(second.adminUrl);
    expect((await fetch(`${elsewhere}/livez`)).status).toBe(200);
    expect(await up.printed()).toContain(elsewhere);
    taker.close();
  });
});

/** Empty where it is gone by now. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
