import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { aDeployment } from '../../src/testing/deployment-builder.js';
import { freePort } from '../../src/machinery/listening.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor as waitForUpTo } from '../../src/testing/wait-for.js';
import type { StartedProgram } from '../e2e/support/packed-project.js';
import { PackedProject } from '../e2e/support/packed-project.js';

const waitFor = <T>(what: string, condition: () => T | undefined | false | Promise<T | undefined | false>) =>
  waitForUpTo(condition, { what, timeoutMs: 90_000, intervalMs: 50 });

interface Replica {
  readonly program: StartedProgram;
  readonly url: string;
}

describe('the examples, outside of the repository', () => {
  let project: PackedProject;
  let api: TestCluster;
  let redis: TestRedisServer;
  const replicas: Replica[] = [];

  beforeAll(async () => {
    [api, redis] = await Promise.all([
      startTestCluster({ controllers: [], nodes: 0 }),
      startTestRedisServer(),
    ]);
    project = new PackedProject();
    for (const example of ['canary', 'office-hours']) project.copyExample(example);
    project.compile();
  });
  afterAll(async () => {
    await api.stop();
    await redis.stop();
    project.remove();
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map(({ program }) => program.end('SIGTERM')));
  });

  async function startReplica(example: string): Promise<Replica> {
    const port = await freePort();
    const program = project.start(example, {
      KUBECONFIG: api.kubeconfig.path,
      REDIS_URL: redis.url,
      PORT: String(port),
    });
    const replica = { program, url: `http://127.0.0.1:${port}` };
    replicas.push(replica);
    await waitFor(`${example} to be ready`, async () => {
      if (program.exitCode !== null) throw new Error(`${example} has ended: ${program.output}`);
      return (await read(replica, '/readyz'))?.status === 200;
    });
    return replica;
  }

  async function read({ url }: Replica, path: string) {
    const response = await fetch(url + path).catch(() => undefined);
    return response && { status: response.status, text: await response.text() };
  }

  const leads = async (replica: Replica) =>
    /^leader_election_master_status\{[^}]*\} 1$/m.test((await read(replica, '/metrics'))?.text ?? '');

  /** Ends the one that leads, as fate does. */
  async function killLeader(): Promise<void> {
    const leader = await waitFor('a leader', async () => {
      for (const replica of replicas) if (await leads(replica)) return replica;
      return undefined;
    });
    await leader.program.end('SIGKILL');
    replicas.splice(replicas.indexOf(leader), 1);
    expect(replicas).toHaveLength(1);
  }

  const refOf = (name: string) => ({ namespace: 'default', name });
  const get = (name: string) => api.client.get<Deployment>(Deployment, refOf(name)).catch(() => undefined);
  const annotate = (name: string, annotations: Record<string, string | null>) =>
    api.client.patch(Deployment, refOf(name), { type: 'merge', body: { metadata: { annotations } } });

  async function create(annotations: Record<string, string>, replicasWanted: number): Promise<string> {
    const name = `web-${randomUUID().slice(0, 8)}`;
    const { metadata: _, ...deployment } = aDeployment({ replicas: replicasWanted });
    await api.client.create(Deployment, { ...deployment, metadata: { ...refOf(name), annotations } });
    return name;
  }

  it('a canary stands beside its Deployment, whichever replica is killed', async () => {
    const CANARY = 'example.com/canary-image';
    const imageOf = async (name: string) =>
      (await get(`${name}-canary`))?.spec.template.spec?.containers[0]?.image;
    await Promise.all([startReplica('canary'), startReplica('canary')]);
    const name = await create({ [CANARY]: 'app:2' }, 3);
    await waitFor('the canary', async () => (await imageOf(name)) === 'app:2');
    expect((await get(`${name}-canary`))?.metadata.ownerReferences).toMatchObject([
      { name, controller: true },
    ]);

    await killLeader();
    await annotate(name, { [CANARY]: 'app:3' });
    await waitFor('the new image', async () => (await imageOf(name)) === 'app:3');
    await api.client.delete(Deployment, refOf(`${name}-canary`));
    await waitFor('the canary to be back', async () => (await imageOf(name)) === 'app:3');
    await annotate(name, { [CANARY]: null });
    await waitFor('the canary to be gone', async () => !(await get(`${name}-canary`)));
    expect(await get(name)).toBeDefined();
    const [survivor] = replicas;
    await survivor?.program.end('SIGTERM');
    expect(survivor?.program.exitCode).toBe(0);
  });

  it('Deployments sleep outside of office hours, whichever replica is killed', async () => {
    const HOURS = 'example.com/office-hours';
    const ALWAYS = '00:00-24:00';
    const NEVER = '00:00-00:00';
    const sizeOf = async (name: string) => (await get(name))?.spec.replicas;
    await Promise.all([startReplica('office-hours'), startReplica('office-hours')]);
    const name = await create({ [HOURS]: NEVER }, 3);
    const other = await create({ [HOURS]: ALWAYS }, 2);
    await waitFor('sleep', async () => (await sizeOf(name)) === 0);

    await killLeader();
    await annotate(name, { [HOURS]: ALWAYS });
    await waitFor('waking up', async () => (await sizeOf(name)) === 3);
    await annotate(other, { [HOURS]: NEVER });
    await waitFor('sleep of the other', async () => (await sizeOf(other)) === 0);
    expect((await get(name))?.metadata.annotations).toEqual({ [HOURS]: ALWAYS });

    // The mistake in the hours is reported once, and stops no other object.
    await annotate(other, { [HOURS]: 'nine to five' });
    const [survivor] = replicas;
    const parked = /^rollkeeper_workqueue_parked_keys\{name="office-hours"\} 1$/m;
    await waitFor('the wrong one to be parked', async () =>
      parked.test((await read(survivor as Replica, '/metrics'))?.text ?? ''),
    );
  });
});
