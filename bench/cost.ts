import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../src/machinery/clock/index.js';
import { Deployment } from '../src/machinery/kubernetes/index.js';
import { ChaosSet } from '../test/chaos/set/chaos-set.js';
import type { CountedWork } from '../test/chaos/set/managed-process.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { number, numbers, readFlags, texts } from '../test/support/flags.js';
import { waitFor } from '../src/testing/wait-for.js';
import type { WatchedDeployments } from './support/deployments.js';
import { setImage, watchDeployments } from './support/deployments.js';
import { isRolledOut } from './support/rollout-world.js';
import { usageOf } from './support/usage.js';

/** The work of all replicas together. */
type Work = Omit<CountedWork, 'byName'> & {
  readonly syncs: number;
  readonly writes: number;
  /** Commands that Redis has carried out for all processes, those of scripts included. */
  readonly carriedOut: number;
  /** CPU milliseconds of the replicas, and of Redis. */
  readonly cpu: number;
  readonly redisCpu: number;
};
type Counted = Work & Pick<CountedWork, 'byName'>;
interface Stages {
  readonly before: Counted;
  readonly after: Counted;
  readonly rested: Counted;
}

const flags = readFlags('npm run bench -- --cost', {
  deployments: number('Deployments', 50),
  pods: number('pods of each', 10),
  warm: number('rollouts before those that are measured', 2),
  measured: number('rollouts that are measured', 2),
  idleSeconds: number('how long nothing happens before that is measured, seconds', 20),
  replicas: numbers('controller processes; one measurement each', [1, 3]),
  arg: texts('an argument of the replicas, --arg=--spread-after-ms=0; again for more', []),
});
const names = Array.from({ length: flags.deployments }, (_, index) => `web-${index}`);
const dist = join(import.meta.dirname, '..', 'dist');
/** After this the last pods are gone, and so are the Events about them. */
const SETTLE_MS = 5000;
const ROWS: readonly (readonly [keyof Work, string])[] = [
  ['syncs', 'syncs'],
  ['writes', 'writes to Deployments and ReplicaSets'],
  ['commands', 'commands sent to Redis'],
  ['redisSent', 'bytes to Redis'],
  ['redisReceived', 'bytes from Redis'],
  ['carriedOut', 'commands in Redis, of all processes'],
  ['requests', 'requests to the API'],
  ['apiSent', 'bytes to the API'],
  ['apiReceived', 'bytes from the API'],
  ['spans', 'spans'],
  ['timers', 'timers'],
  ['allocated', 'bytes allocated'],
  ['cpu', 'CPU of the replicas (ms)'],
  ['redisCpu', 'CPU of Redis (ms)'],
];

for (const replicas of flags.replicas) await measure(replicas);

async function measure(replicas: number): Promise<void> {
  const random = new SeededRandom(1);
  const set = await ChaosSet.start({
    ...{ dist, replicas, controllerArgs: [...flags.arg], links: 'none' },
    random: () => random.next(),
  });
  const watched = await watchDeployments(set.client);
  try {
    await set.untilSettled();
    const creating = names.map((name) =>
      set.client.create(Deployment, aDeployment({ name, replicas: flags.pods })),
    );
    await Promise.all(creating);
    await untilRolledOut(watched, 'web:1');
    for (let index = 0; index < flags.warm; index++) await rollOut(set, watched, `warm:${index}`);
    await sleep(SETTLE_MS);
    const before = await count(set, watched);
    let seconds = 0;
    for (let index = 0; index < flags.measured; index++)
      seconds += await rollOut(set, watched, `web:${index + 2}`);
    await sleep(SETTLE_MS);
    const after = await count(set, watched);
    await sleep(flags.idleSeconds * 1000);
    const rested = await count(set, watched);
    print(replicas, seconds / flags.measured, { before, after, rested });
  } finally {
    await watched.stop();
    await set.stop();
    set.remove();
  }
}

/** @returns seconds */
async function rollOut(set: ChaosSet, watched: WatchedDeployments, image: string): Promise<number> {
  const startedMs = performance.now();
  await Promise.all(names.map((name) => setImage(set.client, name, image)));
  await untilRolledOut(watched, image);
  return (performance.now() - startedMs) / 1000;
}

function untilRolledOut(watched: WatchedDeployments, image: string): Promise<boolean> {
  const isThere = (): boolean => {
    const known = watched.list();
    return known.length === names.length && known.every((each) => isRolledOut(each, image));
  };
  return waitFor(isThere, { timeoutMs: 600_000, intervalMs: 10, what: 'all rollouts' });
}

async function count(set: ChaosSet, watched: WatchedDeployments): Promise<Counted> {
  const counted = await Promise.all(set.replicas.map(({ process }) => process.work()));
  const used = await usageOf({ replicas: set.replicas, redis: set.redisServer });
  const { commands: carriedOut, syncs } = used;
  const own = sumOf(counted.map(({ byName: _, ...rest }) => rest as Readonly<Record<string, number>>));
  return {
    // Each of them has all of these.
    ...(own as unknown as Omit<CountedWork, 'byName'>),
    byName: sumOf(counted.map(({ byName }) => byName)),
    ...{ syncs, carriedOut, writes: watched.writes },
    ...{ cpu: used.replicas * 1000, redisCpu: used.redis * 1000 },
  };
}

function sumOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const each of all)
    for (const [name, figure] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + figure;
  return sums;
}

function print(replicas: number, seconds: number, stages: Stages): void {
  const { after, before, rested } = stages;
  const each = (what: keyof Work): number => (after[what] - before[what]) / flags.measured;
  const idle = (what: keyof Work): number => (rested[what] - after[what]) / flags.idleSeconds;
  // The change itself is not the replicas'.
  const writes = each('writes') - names.length;
  console.log(
    `\n${names.length} x ${flags.pods}, ${replicas} replicas: one rollout of all, ${seconds.toFixed(2)} s`,
  );
  line('', 'a rollout', 'a sync', 'a write', 'idle, a s');
  for (const [what, title] of ROWS) {
    const all = what === 'writes' ? writes : each(what);
    line(title, ...[all, all / each('syncs'), all / writes, idle(what)].map(figureOf));
  }
  printCommands(stages, each('syncs'));
}

/** The commands by name: what a key takes from its add to its completion, and what is sent when nothing happens. */
function printCommands({ after, before, rested }: Stages, syncs: number): void {
  const rows = Object.keys(rested.byName).map((name) => {
    const [first, second, third] = [before, after, rested].map(({ byName }) => byName[name] ?? 0);
    const sent = ((second ?? 0) - (first ?? 0)) / flags.measured;
    return { name, sent, idle: ((third ?? 0) - (second ?? 0)) / flags.idleSeconds };
  });
  console.log('');
  line('commands to Redis', 'a rollout', 'a sync', '', 'idle, a s');
  for (const { idle, name, sent } of rows.sort((a, b) => b.sent - a.sent))
    if (sent / syncs > 0.005 || idle > 0.05)
      line(name, figureOf(sent), figureOf(sent / syncs), '', figureOf(idle));
}

function line(title: string, ...figures: string[]): void {
  console.log(title.padEnd(72), ...figures.map((figure) => figure.padStart(12)));
}

function figureOf(figure: number): string {
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(2);
}
