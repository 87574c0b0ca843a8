import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { listOf, number, numbers, readFlags, texts } from '../test/support/flags.js';
import type { RolloutWorld, Usage } from './support/rollout-world.js';
import { median, spread } from './support/spread.js';
import type { StartWorld, WorldName } from './support/worlds.js';
import { WORLDS, WORLD_NAMES, untilRolledOut } from './support/worlds.js';

/** The average cost of one rollout of all Deployments, of those that were measured. */
type Cost = Usage & {
  readonly seconds: number;
  readonly commandsPerSync: number;
  /** CPU milliseconds of the replicas, and Redis commands, in a second in which nothing happens. */
  readonly idleCpuMs: number;
  readonly idleCommands: number;
};

const flags = readFlags('npm run bench -- --replica-cost', {
  deployments: number('Deployments', 50),
  pods: number('pods of each', 10),
  rounds: number('times that everything is measured', 3),
  // With as few as this, what processes spend on compiling their own code still counts; that is what short-lived ones cost.
  warm: number('rollouts before those that are measured', 4),
  measured: number('rollouts that are measured', 4),
  latency: number('what every call to the API takes longer, milliseconds', 2),
  idleSeconds: number('how long nothing happens before that is measured, seconds', 5),
  api: listOf('which', WORLD_NAMES),
  replicas: numbers('controller processes; one measurement each', [1, 3]),
  arg: texts('an argument of the replicas, --arg=--reconcile-on=leader; again for more', []),
});
const names = Array.from({ length: flags.deployments }, (_, index) => `web-${index}`);
const sizes = flags.replicas;
/** After this the last pods are gone, and so are the Events about them. */
const SETTLE_MS = 3000;
const firstMeasured = 2 + flags.warm;
const ROWS: readonly (readonly [keyof Cost, string, number])[] = [
  ['replicas', 'CPU of the replicas (s)', 2],
  ['redis', 'CPU of Redis (s)', 2],
  ['servers', 'CPU of API server and nodes (s)', 2],
  ['commands', 'Redis commands', 0],
  ['syncs', 'syncs', 0],
  ['writes', 'writes to Deployments and ReplicaSets', 0],
  ['commandsPerSync', 'Redis commands per sync', 1],
  ['seconds', 'wall time (s)', 2],
  ['idleCpuMs', 'idle: CPU of the replicas (ms per s)', 0],
  ['idleCommands', 'idle: Redis commands per s', 0],
];

console.log(
  `one rollout of ${names.length} x ${flags.pods}, API calls of ${flags.latency} ms; median, and from least to most of ${flags.rounds} rounds`,
);
for (const api of flags.api) await compare(api);

/** The sizes in turns, so that all of them meet what else the machine has to do. */
async function compare(api: WorldName): Promise<void> {
  const start = WORLDS[api];
  const costs = new Map<number, Cost[]>(sizes.map((size) => [size, []]));
  for (let round = 0; round < flags.rounds; round++)
    for (const size of sizes) costs.get(size)?.push(await measure(start, size));
  console.log(
    `\n${api} API`.padEnd(41),
    ...sizes.map((size) => `${size} replicas`.padStart(24)),
    'ratio'.padStart(7),
  );
  for (const [what, title, digits] of ROWS) {
    const figures = sizes.map((size) => (costs.get(size) ?? []).map((cost) => cost[what]));
    const [first = 0, last = 0] = [figures[0], figures.at(-1)].map((all = []) => median(all));
    const ratio = first === 0 ? '' : (last / first).toFixed(2);
    console.log(
      title.padEnd(40),
      ...figures.map((all) => spread(all, digits).padStart(24)),
      ratio.padStart(7),
    );
  }
}

async function measure(startWorld: StartWorld, replicas: number): Promise<Cost> {
  const dist = join(import.meta.dirname, '..', 'dist');
  const world = await startWorld({ dist, replicas, controllerArgs: [...flags.arg] });
  try {
    const { measured, pods } = flags;
    await Promise.all(names.map((name) => world.create(aDeployment({ name, replicas: pods }))));
    await untilRolledOut(world, names.length, 'web:1');
    world.slowDown(flags.latency);
    for (let image = 2; image < firstMeasured; image++) await rollOut(world, `web:${image}`);
    const before = await world.usage();
    let seconds = 0;
    for (let index = 0; index < measured; index++)
      seconds += await rollOut(world, `web:${firstMeasured + index}`);
    const used = await world.usage();
    const each = (what: keyof Usage): number => (used[what] - before[what]) / measured;
    const idleSeconds = flags.idleSeconds;
    await sleep(SETTLE_MS);
    const resting = await world.usage();
    await sleep(idleSeconds * 1000);
    const rested = await world.usage();
    const idle = (what: keyof Usage): number => (rested[what] - resting[what]) / idleSeconds;
    return {
      replicas: each('replicas'),
      redis: each('redis'),
      servers: each('servers'),
      commands: each('commands'),
      syncs: each('syncs'),
      // Without the change itself.
      writes: each('writes') - names.length,
      seconds: seconds / measured,
      commandsPerSync: each('commands') / each('syncs'),
      idleCpuMs: idle('replicas') * 1000,
      idleCommands: idle('commands'),
    };
  } finally {
    await world.stop();
  }
}

/** Seconds. */
async function rollOut(world: RolloutWorld, image: string): Promise<number> {
  const startedMs = performance.now();
  await Promise.all(names.map((name) => world.setImage(name, image)));
  await untilRolledOut(world, names.length, image);
  return (performance.now() - startedMs) / 1000;
}
