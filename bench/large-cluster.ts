import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeKubeconfig } from '../src/apiserver/index.js';
import type { TestRedisServer } from '../src/testing/redis-server.js';
import { startTestRedisServer } from '../src/testing/redis-server.js';
import { waitFor } from '../src/testing/wait-for.js';
import { number, numbers, readFlags, text, texts } from '../test/support/flags.js';
import type { LargeClusterFigures, LargeClusterTask } from './support/large-cluster.js';
import { MeasuredReplicas } from './support/measured-replicas.js';
import { cpuSeconds, memoryOf } from './support/process-figures.js';
import type { QueueWaits } from './support/queue-waits.js';
import { boundOf, queueWaitsIn, shareWithin, waitsBetween } from './support/queue-waits.js';
import { printRow, printTitles, rangeOf } from './support/table.js';
import { syncsIn } from './support/usage.js';

/*
 * Measures what replicas hold, and up to which rate of changes: a simulated cluster on a light API, whose pods change all the time.
 */

const flags = readFlags('npm run bench -- --large', {
  replicas: numbers('one measurement each', [9]),
  slots: number('0: none, and every replica keeps everything', 64),
  pods: numbers('in all; one measurement each', [150_000]),
  namespaces: number('each with one Deployment', 5000),
  churn: numbers(
    'changes of pods in a second, one after the other; a replica that cannot follow one is not asked for more',
    [1000],
  ),
  ready: numbers('shares of the changes that make pods ready or not, 0 to 1; each with every rate', [0, 1]),
  seconds: number('that each rate is measured for', 15),
  arg: texts('an argument of the replicas, --arg=--workers=deployment=20,replicaset=20; again for more', []),
  profile: text('a folder for profiles of the CPU of the replicas'),
});
const CONTROLLERS = ['--controllers', 'deployment,replicaset', '--problems', 'none'];
const SLOTTED = ['--max-rollouts', 'off', '--notification-hosts', ''];
/** In the order in which they come. */
const FILLED_KINDS = ['Pod', 'ReplicaSet', 'Deployment'] as const;
/** Until a rate is measured that has begun. */
const WARM_MS = 3000;
/** Replicas can follow whose keys wait no longer than this, but for a hundredth; seconds, and a bound of the histogram of waits. */
const AIM = 1;
const FOLLOWING = 0.99;
/** The churn that is made is no less than this share of what is asked for, or else the API server cannot follow. */
const MADE = 0.9;

const TITLES = [
  ...['replicas', 'slots', 'pods', 'changes a second', 'about readiness', 'pods of a replica'],
  ...['MiB of a replica', 'KiB a second from the API, of a replica', 'CPU of a replica (% of a core)'],
  ...[
    'syncs a second',
    'writes a second',
    'CPU seconds for 1000 changes: replicas',
    'API server and churn',
    'Redis',
  ],
  ...['queue p50', 'queue p99', 'within 1 s', 'a rollout (s)', 'load'],
];

for (const pods of flags.pods) for (const replicas of flags.replicas) await measure(replicas, pods);

interface World {
  readonly cluster: ChildProcess;
  readonly redis: TestRedisServer;
  readonly replicas: MeasuredReplicas;
}

/** The state of all processes at one moment. */
interface Moment {
  readonly cluster: LargeClusterFigures;
  readonly replicaCpu: readonly number[];
  readonly clusterCpu: number;
  readonly redisCpu: number;
  readonly bytes: readonly number[];
  readonly syncs: number;
  readonly waits: readonly QueueWaits[];
  readonly atMs: number;
}

async function measure(count: number, pods: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-large-'));
  const redis = await startTestRedisServer();
  const podsEach = Math.max(1, Math.round(pods / flags.namespaces));
  const cluster = fork(
    join(import.meta.dirname, 'support', 'large-cluster.ts'),
    [String(flags.namespaces), String(podsEach)],
    {
      execArgv: [...process.execArgv, '--max-old-space-size=8192'],
    },
  );
  let replicas: MeasuredReplicas | undefined;
  try {
    const [{ url }] = (await once(cluster, 'message')) as [LargeClusterFigures];
    const kubeconfig = join(dir, 'kubeconfig');
    await writeKubeconfig({ path: kubeconfig, server: url, token: 'large' });
    const slots = count === 1 ? 0 : flags.slots;
    replicas = await MeasuredReplicas.start({
      ...{ count, slots, dir, kubeconfig, redisUrl: redis.url },
      args: [...CONTROLLERS, ...(slots > 0 ? SLOTTED : []), ...flags.arg],
      ...(flags.profile !== '' && { profiles: flags.profile }),
    });
    const world = { cluster, redis, replicas };
    const seconds = await fill(world, podsEach, slots > 0 ? 2 : count);
    printTitles(
      `${flags.namespaces * podsEach} pods in ${flags.namespaces} namespaces; caches filled in ${seconds.toFixed(1)} s.`,
      ...TITLES,
    );
    for (const ready of flags.ready)
      for (const rate of flags.churn) if (!(await measureRate(world, { rate, ready, pods, slots }))) break;
  } finally {
    await replicas?.stop();
    cluster.disconnect();
    await once(cluster, 'exit');
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** One kind after the other, so that no set is seen without its pods. @returns seconds */
async function fill({ cluster, replicas }: World, podsEach: number, copies: number): Promise<number> {
  const beganMs = performance.now();
  for (const kind of FILLED_KINDS) {
    await ask(cluster, { do: 'fill', kind });
    const wanted = copies * flags.namespaces * (kind === 'Pod' ? podsEach : 1);
    const resource = { Pod: 'pods', ReplicaSet: 'replicasets.apps', Deployment: 'deployments.apps' }[kind];
    const areFilled = async (): Promise<boolean> =>
      (await keptOf(replicas, resource)).reduce((sum, kept) => sum + kept, 0) >= wanted;
    await waitFor(areFilled, {
      timeoutMs: 300_000,
      intervalMs: 250,
      what: `the caches to have all ${resource}`,
    });
  }
  const seconds = (performance.now() - beganMs) / 1000;
  await untilQuiet(replicas);
  return seconds;
}

async function keptOf(replicas: MeasuredReplicas, resource: string): Promise<readonly number[]> {
  const statuses = await replicas.statuses();
  return statuses.map((status) => status?.informers.find((each) => each.resource === resource)?.objects ?? 0);
}

/** Every object was looked at once, and nothing is looked at any more. */
async function untilQuiet(replicas: MeasuredReplicas): Promise<void> {
  let before = -1;
  await waitFor(
    async () => {
      const now = (await replicas.pages()).reduce((sum, page) => sum + syncsIn(page), 0);
      const isQuiet = now === before;
      before = now;
      return isQuiet;
    },
    { timeoutMs: 600_000, intervalMs: 2000, what: 'the replicas to have looked at everything' },
  );
}

/** Answers whether keys do not wait longer than the aim. */
async function measureRate(
  { cluster, redis, replicas }: World,
  {
    pods,
    rate,
    ready,
    slots,
  }: { readonly rate: number; readonly ready: number; readonly pods: number; readonly slots: number },
): Promise<boolean> {
  await ask(cluster, { do: 'churn', rate, ready });
  await sleep(WARM_MS);
  const before = await momentOf({ cluster, redis, replicas });
  await sleep((flags.seconds * 1000) / 3);
  const rollout = ask(cluster, { do: 'roll', index: Math.floor(before.atMs) });
  await sleep((flags.seconds * 2000) / 3);
  const after = await momentOf({ cluster, redis, replicas }, await rollout);
  await ask(cluster, { do: 'churn', rate: 0, ready: 0 });
  const kept = await keptOf(replicas, 'pods');
  const mib = replicas.all.map(({ pid }) => memoryOf(pid).resident);
  await untilQuiet(replicas);
  const seconds = (after.atMs - before.atMs) / 1000;
  const changes = after.cluster.changes - before.cluster.changes;
  const cpu = after.replicaCpu.map((used, index) => used - before.replicaCpu[index]!);
  const total = cpu.reduce((sum, each) => sum + each, 0);
  const received = after.bytes.map((sum, index) => sum - before.bytes[index]!);
  const waits = waitsBetween(before.waits, after.waits);
  const [p50, p99] = [boundOf(waits, 0.5), boundOf(waits, FOLLOWING)];
  const within = shareWithin(waits, AIM);
  const per1000 = (used: number): string => ((used / changes) * 1000).toFixed(2);
  const serverCpu = after.clusterCpu - before.clusterCpu;
  printRow(
    ...[replicas.all.length, slots, pods].map(String),
    `${(changes / seconds).toFixed(0)} of ${rate}`,
    `${ready * 100} %`,
    rangeOf(kept),
    rangeOf(mib),
    rangeOf(
      received.map((bytes) => bytes / seconds / 1024),
      0,
    ),
    rangeOf(
      cpu.map((used) => (used / seconds) * 100),
      0,
    ),
    ((after.syncs - before.syncs) / seconds).toFixed(0),
    ((after.cluster.writes - before.cluster.writes) / seconds).toFixed(0),
    per1000(total),
    per1000(serverCpu),
    per1000(after.redisCpu - before.redisCpu),
    ...[boundText(p50), boundText(p99), `${(within * 100).toFixed(2)} %`],
    (after.cluster.rolledOutIn ?? 0).toFixed(2),
    loadavg()[0]?.toFixed(1) ?? '',
  );
  return within >= FOLLOWING && changes / seconds >= MADE * rate;
}

async function momentOf({ cluster, redis, replicas }: World, figures?: LargeClusterFigures): Promise<Moment> {
  const now = await ask(cluster, { do: 'figures' });
  const atMs = performance.now();
  const replicaCpu = replicas.all.map(({ pid }) => cpuSeconds(pid));
  const pages = await replicas.pages();
  const work = await Promise.all(replicas.all.map((replica) => replica.work()));
  return {
    cluster: { ...figures, ...now },
    replicaCpu,
    clusterCpu: cpuSeconds(cluster.pid ?? 0),
    redisCpu: cpuSeconds(redis.pid),
    bytes: work.map(({ apiReceived }) => apiReceived),
    syncs: pages.reduce((sum, page) => sum + syncsIn(page), 0),
    waits: pages.map(queueWaitsIn),
    atMs,
  };
}

/** One question at a time, but for a rollout, whose answer has its time. */
function ask(cluster: ChildProcess, task: LargeClusterTask): Promise<LargeClusterFigures> {
  return new Promise((resolve) => {
    const listen = (figures: LargeClusterFigures): void => {
      if ((task.do === 'roll') !== (figures.rolledOutIn !== undefined)) return;
      cluster.off('message', listen);
      resolve(figures);
    };
    cluster.on('message', listen);
    cluster.send(task);
  });
}

/** The bounds are far apart: what is known is that it was less. */
function boundText(seconds: number | undefined): string {
  return seconds === undefined ? 'none' : `< ${seconds * 1000} ms`;
}
