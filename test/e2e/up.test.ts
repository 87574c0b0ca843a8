import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { DEPLOYMENTS } from '../../src/base/kubernetes/index.js';
import { readRunState } from '../../src/app/supervisor/run-state.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { Up, rollkeeper } from './support/up.js';

const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ADMISSION_POLICIES = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
};
const ADMISSION_POLICY_BINDINGS = {
  ...ADMISSION_POLICIES,
  resource: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** An orphan counts as a process until whoever adopted it has looked, which may take seconds. */
const ended = (pid: number | null | undefined): Promise<true> =>
  waitFor(() => pid != null && !isAlive(pid), { what: `process ${pid} to end` });

/** Listens where somebody else does, as soon as that one is gone. */
const take = (url: string): Promise<Server> =>
  waitFor(
    () =>
      new Promise<Server | undefined>((done) => {
        const server = createServer();
        server.once('error', () => done(undefined));
        server.listen(Number(new URL(url).port), '127.0.0.1', () => done(server));
      }),
    { what: `${url} to be free`, intervalMs: 1 },
  );

describe('rollkeeper up', () => {
  const dataDir = join(folder, 'kept');
  let up: Up | undefined;

  afterEach(async () => {
    await up?.stop();
    up = undefined;
  });

  const pids = async (running: Up): Promise<number[]> => {
    const { apiServer, nodes, redis, replicas } = await running.status();
    return [apiServer?.pid, nodes?.pid, redis?.pid, ...replicas.map(({ pid }) => pid)].filter(
      (pid) => pid != null,
    );
  };

  it('says what to type next, and writes a kubeconfig that only its user can read', async () => {
    up = await Up.start({ dataDir });
    expect(up.printed).toContain(`export KUBECONFIG=${up.kubeconfig}`);
    expect(statSync(up.kubeconfig).mode & 0o777).toBe(0o600);
    const status = await up.status();
    expect(status.replicas).toHaveLength(3);
    expect(status.replicas.filter(({ leader }) => leader)).toHaveLength(1);
    expect(status.apiServer?.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  it('is told by `rollkeeper status`, as a table and as JSON', async () => {
    up = await Up.start({ dataDir });
    const leader = await up.leader();
    const table = await rollkeeper('status', '--data-dir', dataDir);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^PROCESS +PID +ROLE +URL\n/);
    expect(table.stdout).toMatch(new RegExp(`^${leader.identity} +${leader.pid} +leader +`, 'm'));
    const json = await rollkeeper('status', '--data-dir', dataDir, '--json');
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toEqual(await up.status());
  });

  it('is said by `rollkeeper status` not to run where it does not', async () => {
    const nothing = await rollkeeper('status', '--data-dir', join(folder, 'nothing'));
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain(`nothing is running from ${join(folder, 'nothing')}`);
  });

  it('stops every process, and has kept everything when it is started again', async () => {
    up = await Up.start({ dataDir });
    let client = await up.client();
    await client.create(DEPLOYMENTS, aDeployment({ name: 'kept', replicas: 2 }));
    await client.close();
    const started = await pids(up);
    expect(await up.stop()).toBe(0);
    expect(started.filter(isAlive)).toEqual([]);

    up = await Up.start({ dataDir });
    client = await up.client();
    expect((await client.get(DEPLOYMENTS, { namespace: 'default', name: 'kept' })).metadata.name).toBe(
      'kept',
    );
    await client.close();
  });

  it('leaves no process behind when it is killed, and starts again after that', async () => {
    up = await Up.start({ dataDir });
    const { redis } = await up.status();
    const children = (await pids(up)).filter((pid) => pid !== redis?.pid);
    process.kill(up.pid, 'SIGKILL');
    await up.ended();
    await waitFor(() => children.every((pid) => !isAlive(pid)), {
      what: 'the children to end',
    });
    up = await Up.start({ dataDir });
    expect((await up.status()).replicas).toHaveLength(3);
    await ended(redis?.pid);
  });

  it('takes numbers of replicas and nodes', async () => {
    up = await Up.start({ dataDir: join(folder, 'small'), args: ['--replicas', '1', '--nodes', '1'] });
    expect((await up.status()).replicas).toHaveLength(1);
  });

  const again = async (running: Up, former: { identity: string; pid: number }): Promise<string> =>
    waitFor(
      async () =>
        (await running.status()).replicas.find(
          ({ identity, pid }) => identity === former.identity && pid !== former.pid,
        )?.adminUrl,
      { intervalMs: 50, what: `${former.identity} to come back` },
    );

  it('brings a killed replica back where its console was, or elsewhere when its port was taken meanwhile', async () => {
    up = await Up.start({ dataDir: join(folder, 'ports') });
    const [first, second] = (await up.status()).replicas;
    if (!first || !second) throw new Error('no replicas');
    expect(up.printed).toContain(`${first.adminUrl}/console`);
    process.kill(first.pid, 'SIGKILL');
    expect(await again(up, first)).toBe(first.adminUrl);
    expect((await fetch(`${first.adminUrl}/console`)).status).toBe(200);

    process.kill(second.pid, 'SIGKILL');
    const taker = await take(second.adminUrl);
    const elsewhere = await again(up, second);
    expect(elsewhere).not.toBe(second.adminUrl);
    expect((await fetch(`${elsewhere}/livez`)).status).toBe(200);
    expect(up.printed).toContain(elsewhere);
    taker.close();
  });

  it('waits for an API server that dies during the first start, and says so', async () => {
    const folderOfLate = join(folder, 'late');
    up = Up.spawn({ dataDir: folderOfLate });
    const { apiServer } = await waitFor(
      async () => {
        const state = await readRunState(folderOfLate);
        return state?.apiServer ? { apiServer: state.apiServer } : false;
      },
      { what: 'the API server to run', intervalMs: 1 },
    );
    process.kill(apiServer.pid, 'SIGKILL');
    const squatter = await take(apiServer.url ?? '');
    await waitFor(() => up?.printed.includes('still waiting; not running: the API server'), {
      what: 'it to say what it waits for',
    });
    squatter.close();
    await waitFor(() => up?.printed.includes('Rollkeeper is ready'), {
      what: 'it to be ready after all',
    });
    expect((await up.status()).replicas).toHaveLength(3);
  });

  it('starts also where a policy refuses its nodes, so that the policy can be taken away', async () => {
    const refused = join(folder, 'refused');
    up = await Up.start({ dataDir: refused, args: ['--nodes', '1', '--replicas', '1'] });
    const before = await up.client();
    await before.create(ADMISSION_POLICIES, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'deny' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
        },
        validations: [{ expression: 'false', message: 'not today' }],
      },
    });
    await before.create(ADMISSION_POLICY_BINDINGS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'deny' },
      spec: { policyName: 'deny', validationActions: ['Deny'] },
    });
    await before.close();
    await up.stop();
    up = Up.spawn({ dataDir: refused, args: ['--nodes', '1', '--replicas', '1'] });
    await waitFor(() => /could not start; trying again.*not today/s.test(up?.printed ?? ''), {
      what: 'it to say what refuses the nodes',
    });
    const client = await up.client();
    await client.delete(ADMISSION_POLICY_BINDINGS, { name: 'deny' });
    await client.close();
    await waitFor(() => up?.printed.includes('Rollkeeper is ready'), { what: 'it to be ready after all' });
  });

  it('lets nobody else into what it has: files, and the store past the token', async () => {
    up = await Up.start({ dataDir });
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true });
    const open = files.filter((file) => (statSync(join(file.parentPath, file.name)).mode & 0o077) !== 0);
    expect(open.map(({ name }) => name)).toEqual([]);
    expect(statSync(dataDir).mode & 0o077).toBe(0);

    const { redis } = await up.status();
    const password = readFileSync(join(dataDir, 'redis-password'), 'utf8').trim();
    const stranger = new Redis(redis?.url ?? '', { lazyConnect: true, retryStrategy: () => null });
    stranger.on('error', () => undefined);
    await expect(stranger.keys('*')).rejects.toThrow('NOAUTH');
    stranger.disconnect();
    for (const pid of await pids(up))
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password);
    const told = files.filter((file) => file.isFile() && file.name !== 'redis-password');
    for (const { name, parentPath } of told)
      expect(readFileSync(join(parentPath, name), 'utf8'), name).not.toContain(password);
    expect(up.printed).not.toContain(password);
  });

  it('refuses to begin beside a Redis of a killed run that it cannot stop, and does not forget it', async () => {
    const left = join(folder, 'left');
    up = await Up.start({ dataDir: left, args: ['--replicas', '1', '--nodes', '0'] });
    const { redis } = await up.status();
    process.kill(up.pid, 'SIGKILL');
    await up.ended();
    const passwordFile = join(left, 'redis-password');
    const password = readFileSync(passwordFile);
    writeFileSync(passwordFile, 'another\n');
    const second = Up.spawn({ dataDir: left });
    expect(await second.ended()).toBe(1);
    expect(second.printed).toContain(`a Redis of a former run (process ${redis?.pid}) is still there`);
    writeFileSync(passwordFile, password);
    up = await Up.start({ dataDir: left, args: ['--replicas', '1', '--nodes', '0'] });
    await ended(redis?.pid);
  });

  it('ends the Redis that a killed run has left behind also where another one is named from then on', async () => {
    const left = join(folder, 'named');
    up = await Up.start({ dataDir: left, args: ['--replicas', '1', '--nodes', '0'] });
    const { redis } = await up.status();
    process.kill(up.pid, 'SIGKILL');
    await up.ended();
    const second = Up.spawn({ dataDir: left, env: { REDIS_URL: 'redis://127.0.0.1:1' } });
    expect(await second.ended()).toBe(1);
    await ended(redis?.pid);
  });

  it('refuses to run twice from one folder', async () => {
    up = await Up.start({ dataDir });
    const second = Up.spawn({ dataDir });
    expect(await second.ended()).toBe(1);
    expect(second.printed).toMatch(/^rollkeeper: already running from .* \(process \d+\).*\n$/);
    expect((await up.status()).replicas).toHaveLength(3);
  });
});

describe('rollkeeper up that cannot start says why in one line, exits with 1 and leaves nothing running', () => {
  const listen = async (
    onConnection: (text: string) => string,
  ): Promise<{ server: Server; port: number }> => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => socket.write(onConnection(chunk.toString())));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, port: (server.address() as AddressInfo).port };
  };
  const failing = async (options: {
    dataDir?: string;
    args?: string[];
    env?: NodeJS.ProcessEnv;
    exit?: number;
  }): Promise<string> => {
    const { exit = 1, ...spawned } = options;
    const up = Up.spawn({ dataDir: join(folder, 'failing'), ...spawned });
    expect(await up.ended()).toBe(exit);
    expect(up.printed.trimEnd().split('\n')).toHaveLength(1);
    await expect(up.status()).rejects.toThrow('nothing is running');
    return up.printed;
  };

  it('when the port is in use', async () => {
    const { port, server } = await listen(() => '');
    expect(await failing({ args: ['--port', String(port)] })).toMatch(new RegExp(`${port}.*in use`));
    server.close();
  });

  it('when the data folder cannot be used', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    expect(await failing({ dataDir: join(file, 'inside') })).toContain(file);
  });

  it('when Redis is not there, or is something else', async () => {
    const { port, server } = await listen(() => 'HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(await failing({ env: { REDIS_URL: `redis://127.0.0.1:${port}` } })).toContain(
      `Redis at 127.0.0.1:${port}`,
    );
    server.close();
    expect(await failing({ env: { REDIS_URL: 'redis://127.0.0.1:1' } })).toContain('Redis at 127.0.0.1:1');
    expect(await failing({ env: { REDIS_URL: 'http://127.0.0.1' }, exit: 2 })).toContain('REDIS_URL');
  });

  it.each([
    { args: ['--replicas', '0'], says: 'replicas: must be at least 1' },
    { args: ['--nodes', 'many'], says: 'nodes: is not a number' },
    { args: ['--port', '70000'], says: 'port: must be at most 65535' },
  ])('when an option is wrong: $args', async ({ args, says }) => {
    expect(await failing({ args, exit: 2 })).toContain(says);
  });
});
