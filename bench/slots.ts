import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { HttpApiClient } from '../src/client/api-client/index.js';
import { Deployment, Namespace, shardHash } from '../src/machinery/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { number, numbers, readFlags } from '../test/support/flags.js';
import type { WatchedPods } from './support/deployments.js';
import { watchDeployments, watchPods } from './support/deployments.js';
import type { WatchedDeployments } from './support/deployments.js';
import { MeasuredReplicas } from './support/measured-replicas.js';
import { isRolledOut } from './support/rollout-world.js';
import { cpuSeconds, memoryOf } from './support/process-figures.js';
import { ProcessSet } from './support/process-set.js';
import { SlotKills } from './support/slot-kills.js';
import { printRow, printTitles, rangeOf } from './support/table.js';
import { syncsIn } from './support/usage.js';

/*
 * Measures replicas that share namespaces by slots, on the embedded API server: what each keeps, what all of them need for rollouts in every
 * namespace, and how soon changes are answered that are made right after one of them was killed.
 */

const flags = readFlags('npm run bench -- --slots', {
  slots: numbers('replicas; one measurement each', [1, 3, 5]),
  count: number('slots; 0: none, and every replica keeps everything', 32),
  namespaces: number('each with one Deployment', 96),
  pods: number('of each Deployment', 10),
  warm: number('rollouts before the one that is measured', 1),
  kills: number('of replicas that do not lead, right before changes in their namespaces', 20),
  midst: number('of these kills, how many are right after the changes instead', 5),
});

/** Names that differ at their beginning, as hashes by FNV need it. */
const NAMES = Array.from(
  { length: flags.namespaces },
  (_, index) => `n${shardHash(String(index)).toString(36)}`,
);
const CONTROLLERS = 'deployment,replicaset,serviceaccount,garbage-collector,namespace';
const ARGS = [
  ...[
    '--controllers',
    CONTROLLERS,
    '--max-rollouts',
    'off',
    '--notification-hosts',
    '',
    '--problems',
    'none',
  ],
];
const FIRST_IMAGE = 'web:1';

for (const replicas of flags.slots) await measure(replicas);

interface World {
  readonly set: ProcessSet;
  readonly replicas: MeasuredReplicas;
  readonly client: HttpApiClient;
  readonly deployments: WatchedDeployments;
  readonly pods: WatchedPods;
}

async function measure(count: number): Promise<void> {
  const main = join(import.meta.dirname, '..', 'dist', 'main.js');
  const set = await ProcessSet.start({ main, env: {} });
  let replicas: MeasuredReplicas | undefined;
  try {
    const { folder: dir, kubeconfig, redisUrl } = set;
    await set.add('node');
    const client = await set.client();
    replicas = await MeasuredReplicas.start({
      ...{ args: ARGS, count, dir, kubeconfig, redisUrl, slots: flags.count },
    });
    const [deployments, pods] = await Promise.all([watchDeployments(client), watchPods(client)]);
    const world: World = { set, replicas, client, deployments, pods };
    await fill(world);
    await printCosts(world);
    if (count > 1 && flags.count > 0 && flags.kills > 0)
      await new SlotKills({ ...world, names: NAMES }).print(flags);
    await deployments.stop();
    await pods.stop();
  } finally {
    await replicas?.stop();
    await set.stop();
  }
}

async function fill(world: World): Promise<void> {
  const { client } = world;
  for (const name of NAMES)
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await Promise.all(
    NAMES.map((namespace) =>
      client.create(
        Deployment,
        aDeployment({ namespace, name: 'web', replicas: flags.pods, image: FIRST_IMAGE }),
      ),
    ),
  );
  await rolledOut(world, FIRST_IMAGE);
  for (let warm = 0; warm < flags.warm; warm++) await rollOut(world, `warm:${warm}`);
}

async function rollOut(world: World, image: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
  await Promise.all(
    NAMES.map((namespace) =>
      world.client.patch(Deployment, { namespace, name: 'web' }, { type: 'strategic', body }),
    ),
  );
  await rolledOut(world, image);
}

async function rolledOut({ deployments }: World, image: string): Promise<void> {
  const areDone = (): boolean => {
    const all = deployments.list();
    return all.length === NAMES.length && all.every((each) => isRolledOut(each, image));
  };
  await waitFor(areDone, { timeoutMs: 300_000, intervalMs: 20, what: `all rollouts of ${image}` });
}

/** One rollout of all Deployments at once, and what the caches hold then. */
async function printCosts(world: World): Promise<void> {
  const { replicas } = world;
  const before = await usageOf(world);
  const beganMs = performance.now();
  await rollOut(world, 'web:2');
  const seconds = (performance.now() - beganMs) / 1000;
  const after = await usageOf(world);
  const statuses = await replicas.statuses();
  const objectsOf = (resource?: string): readonly number[] =>
    statuses.map((status) =>
      (status?.informers ?? [])
        .filter((informer) => resource === undefined || informer.resource === resource)
        .reduce((sum, { objects }) => sum + objects, 0),
    );
  const used = after.cpu.map((each, index) => each - before.cpu[index]!);
  const total = used.reduce((sum, each) => sum + each, 0);
  const received = after.bytes.map((each, index) => (each - before.bytes[index]!) / 1024);
  const syncs = after.syncs - before.syncs;
  printTitles(
    `One rollout of ${NAMES.length} namespaces x ${flags.pods} pods, all at once.`,
    ...['replicas', 'slots', 'pods of a replica', 'objects of a replica', 'MiB of a replica'],
    ...[
      'KiB from the API, of a replica',
      'CPU of a replica (s)',
      'CPU of all replicas (s)',
      'API server (s)',
      'Redis (s)',
    ],
    ...['syncs', 'rolled out in (s)', 'syncs a second', 'load'],
  );
  printRow(
    ...[String(replicas.all.length), String(flags.count)],
    ...[rangeOf(objectsOf('pods')), rangeOf(objectsOf())],
    rangeOf(replicas.all.map(({ pid }) => memoryOf(pid).resident)),
    ...[rangeOf(received), rangeOf(used, 2), total.toFixed(2)],
    (after.server - before.server).toFixed(2),
    (after.redis - before.redis).toFixed(2),
    ...[String(syncs), seconds.toFixed(1), (syncs / seconds).toFixed(0), loadavg()[0]?.toFixed(1) ?? ''],
  );
}

async function usageOf({ replicas, set }: World) {
  const work = await Promise.all(replicas.all.map((replica) => replica.work()));
  const pages = await replicas.pages();
  return {
    bytes: work.map(({ apiReceived }) => apiReceived),
    cpu: replicas.all.map(({ pid }) => cpuSeconds(pid)),
    syncs: pages.reduce((sum, page) => sum + syncsIn(page), 0),
    server: cpuSeconds(set.pidOf('apiserver')),
    redis: cpuSeconds(set.redisPid),
  };
}
