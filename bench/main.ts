import type { HttpApiClient } from '../src/client/api-client/index.js';
import type { KubernetesObject } from '../src/machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet } from '../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../src/testing/rollout-history.js';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { Up } from '../test/e2e/support/up.js';
import { number, readFlags } from '../test/support/flags.js';
import { cpuSecondsOfTree } from './support/process-figures.js';

/** The cost of one phase. */
interface Row {
  readonly phase: string;
  readonly seconds: number;
  /** CPU seconds of all processes together, with Redis and without the benchmark. */
  readonly cpu: number;
  /** Writes to Deployments and ReplicaSets that changed something, the benchmark's own left out. */
  readonly writes: number;
}

const { deployments, pods, replicas } = readFlags('npm run bench --', {
  deployments: number('Deployments', 50),
  pods: number('pods of each', 10),
  replicas: number('controller processes', 3),
});
const names = Array.from({ length: deployments }, (_, index) => `bench-${index}`);

const up = await Up.start({ args: ['--replicas', String(replicas)] });
const client = await up.client();
const history = new RolloutHistory(client, 'default');
try {
  await history.start();
  const rows = [
    await phase(
      'create',
      deployments,
      (name) => client.create(Deployment, aDeployment({ name, replicas: pods })),
      rolledOut(pods),
    ),
    await phase('roll out', deployments, setImage, rolledOut(pods)),
    await phase(
      'scale x2',
      deployments,
      (name) => patch(name, { spec: { replicas: pods * 2 } }),
      rolledOut(pods * 2),
    ),
    await phase(
      'delete',
      deployments,
      (name) => client.delete(Deployment, { namespace: 'default', name }),
      gone,
    ),
  ];
  print(rows);
  await failover(client);
} finally {
  await history.stop();
  await client.close();
  await up.stopAndRemove();
}

async function phase(
  name: string,
  ownWrites: number,
  change: (deployment: string) => Promise<unknown>,
  isDone: (client: HttpApiClient) => Promise<boolean>,
): Promise<Row> {
  const before = countWrites();
  const cpuBefore = cpuSecondsOfTree(up.pid);
  const startedMs = performance.now();
  await Promise.all(names.map(change));
  await waitFor(() => isDone(client), { timeoutMs: 300_000, intervalMs: 25, what: name });
  const seconds = (performance.now() - startedMs) / 1000;
  const cpu = cpuSecondsOfTree(up.pid) - cpuBefore;
  return { phase: name, seconds, cpu, writes: countWrites() - before - ownWrites };
}

function countWrites(): number {
  return history.events().filter(({ kind }) => kind !== 'Pod').length;
}

function setImage(name: string): Promise<unknown> {
  return patch(name, { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } });
}

function patch(name: string, body: unknown): Promise<unknown> {
  return client.patch(Deployment, { namespace: 'default', name }, { type: 'strategic', body });
}

function rolledOut(wanted: number): (client: HttpApiClient) => Promise<boolean> {
  return async (api) => {
    const { items } = await api.list<Deployment>(Deployment, { namespace: 'default' });
    return items.every(
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        status?.replicas === wanted &&
        status?.updatedReplicas === wanted &&
        status?.availableReplicas === wanted,
    );
  };
}

async function gone(api: HttpApiClient): Promise<boolean> {
  for (const type of [Deployment, ReplicaSet, Pod]) {
    if ((await api.list<KubernetesObject>(type, { namespace: 'default', limit: 1 })).items.length > 0)
      return false;
  }
  return true;
}

function print(rows: readonly Row[]): void {
  console.log(`${deployments} Deployments x ${pods} pods, ${replicas} replicas`);
  const line = (phase: string, ...figures: string[]): void =>
    console.log(phase.padEnd(10), ...figures.map((figure) => figure.padStart(11)));
  line('phase', 'seconds', 'CPU seconds', 'API writes');
  for (const { phase, seconds, cpu, writes } of rows)
    line(phase, seconds.toFixed(2), cpu.toFixed(2), String(writes));
  const violations = findViolations(history.events());
  console.log(`pods over or under the limits: ${violations.length}`);
  for (const violation of violations.slice(0, 10))
    console.log(`  ${violation.deployment}: ${violation.problem}`);
  if (violations.length > 0) process.exitCode = 1;
}

/** From a signal to the leader until a change made right after it is seen, from outside. */
async function failover(api: HttpApiClient): Promise<void> {
  const namespace = 'default';
  await api.create(Deployment, aDeployment({ name: 'failover' }));
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const leader = await waitFor(
      async () => {
        const { replicas: running } = await up.status();
        return running.length === replicas && running.find((replica) => replica.leader);
      },
      { timeoutMs: 60_000, what: 'all replicas' },
    );
    process.kill(leader.pid, signal);
    const startedMs = performance.now();
    const changed = await patch('failover', {
      spec: { template: { metadata: { annotations: { signal } } } },
    });
    const { generation } = (changed as Deployment).metadata;
    await waitFor(
      async () =>
        (await api.get<Deployment>(Deployment, { namespace, name: 'failover' })).status
          ?.observedGeneration === generation,
      {
        timeoutMs: 60_000,
        what: 'the change to be seen',
      },
    );
    console.log(
      `leader gets ${signal}: first reaction after ${((performance.now() - startedMs) / 1000).toFixed(2)} s`,
    );
  }
}
