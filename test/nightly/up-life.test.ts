import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { readRunState } from '../../src/rollkeeper/replica/supervisor/run-state.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { isAlive, pidsOf, processEnded, takePort } from '../e2e/support/processes.js';
import { Up } from '../e2e/support/up.js';

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

const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
const running = new Set<Up>();

afterAll(async () => {
  await Promise.all([...running].map((up) => up.stop()));
  rmSync(folder, { recursive: true, force: true });
});

function spawnUp(options: Parameters<typeof Up.spawn>[0]): Up {
  const up = Up.spawn(options);
  running.add(up);
  return up;
}

/** As `Up.start`, and stopped at the end if it still runs. */
async function startUp(options: Parameters<typeof Up.start>[0]): Promise<Up> {
  const up = await Up.start(options);
  running.add(up);
  return up;
}

async function kill(up: Up): Promise<void> {
  process.kill(up.pid, 'SIGKILL');
  await up.ended();
}

/** Each test goes on where the one before it has left the folder: every start takes seconds. */
describe('rollkeeper up, from one folder', () => {
  const dataDir = join(folder, 'kept');
  let up: Up;

  it('waits for an API server that dies during the first start, and says so', async () => {
    up = spawnUp({ dataDir });
    const apiServer = await waitFor(async () => (await readRunState(dataDir))?.apiServer, {
      what: 'the API server to run',
      intervalMs: 1,
    });
    process.kill(apiServer.pid, 'SIGKILL');
    const squatter = await takePort(apiServer.url ?? '');
    await waitFor(() => up.printed.includes('still waiting; not running: the API server'), {
      what: 'it to say what it waits for',
    });
    squatter.close();
    await waitFor(() => up.printed.includes('Rollkeeper is ready'), { what: 'it to be ready after all' });
    expect((await up.status()).replicas).toHaveLength(3);
  });

  it('refuses to run twice', async () => {
    const second = Up.spawn({ dataDir });
    expect(await second.ended()).toBe(1);
    expect(second.printed).toMatch(/^rollkeeper: already running from .* \(process \d+\).*\n$/);
    expect((await up.status()).replicas).toHaveLength(3);
  });

  it('stops every process, and has kept everything when it is started again', async () => {
    let client = await up.client();
    await client.create(Deployment, aDeployment({ name: 'kept', replicas: 2 }));
    await client.close();
    const started = await pidsOf(up);
    const console = `${(await up.status()).replicas[0]?.adminUrl}/console`;
    expect(up.printed).toContain(console);
    expect(await up.stop()).toBe(0);
    expect(started.filter(isAlive)).toEqual([]);

    up = await startUp({ dataDir });
    expect(up.printed).toContain(console);
    client = await up.client();
    expect((await client.get(Deployment, { namespace: 'default', name: 'kept' })).metadata.name).toBe('kept');
    await client.close();
  });

  it('has its console at the port that is named, which is the same from then on', async () => {
    expect(await up.stop()).toBe(0);
    const port = await freePort();
    up = await startUp({ dataDir, args: ['--console-port', String(port)] });
    expect((await up.status()).replicas[0]?.adminUrl).toBe(`http://127.0.0.1:${port}`);
    expect(await up.stop()).toBe(0);
    up = await startUp({ dataDir });
    expect((await up.status()).replicas[0]?.adminUrl).toBe(`http://127.0.0.1:${port}`);
    const other = Up.spawn({ args: ['--console-port', String(port)] });
    expect(await other.ended()).toBe(1);
    expect(other.printed).toContain(`console-port: ${port} is in use`);
    rmSync(other.dataDir, { recursive: true, force: true });
  });

  it('leaves no process behind when it is killed, and starts again after that', async () => {
    const { redis } = await up.status();
    const children = (await pidsOf(up)).filter((pid) => pid !== redis?.pid);
    await kill(up);
    await waitFor(() => children.every((pid) => !isAlive(pid)), { what: 'the children to end' });
    up = await startUp({ dataDir });
    expect((await up.status()).replicas).toHaveLength(3);
    await processEnded(redis?.pid);
  });
});

describe('rollkeeper up of one replica and one node', () => {
  const small = { dataDir: join(folder, 'small'), args: ['--replicas', '1', '--nodes', '1'] };
  let up: Up;

  it('takes numbers of replicas and nodes', async () => {
    up = await startUp(small);
    expect((await up.status()).replicas).toHaveLength(1);
  });

  it('starts also where a policy refuses its nodes, so that the policy can be taken away', async () => {
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
    up = spawnUp(small);
    await waitFor(() => /could not start; trying again.*not today/s.test(up.printed), {
      what: 'it to say what refuses the nodes',
    });
    const client = await up.client();
    await client.delete(ADMISSION_POLICY_BINDINGS, { name: 'deny' });
    await client.close();
    await waitFor(() => up.printed.includes('Rollkeeper is ready'), { what: 'it to be ready after all' });
  });

  it('refuses to begin beside a Redis of a killed run that it cannot stop, and does not forget it', async () => {
    const { redis } = await up.status();
    await kill(up);
    const passwordFile = join(small.dataDir, 'redis-password');
    const password = readFileSync(passwordFile);
    writeFileSync(passwordFile, 'another\n');
    const second = Up.spawn({ dataDir: small.dataDir });
    expect(await second.ended()).toBe(1);
    expect(second.printed).toContain(`a Redis of a former run (process ${redis?.pid}) is still there`);
    writeFileSync(passwordFile, password);

    // This shows that the former run was not forgotten, since nothing else would end its Redis when another one is
    // named.
    const third = Up.spawn({ dataDir: small.dataDir, env: { REDIS_URL: 'redis://127.0.0.1:1' } });
    expect(await third.ended()).toBe(1);
    await processEnded(redis?.pid);
  });
});
