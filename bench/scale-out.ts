import { join } from 'node:path';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { listOf, number, readFlags } from '../test/support/flags.js';
import type { StartWorld } from './support/worlds.js';
import { WORLDS, WORLD_NAMES, untilRolledOut } from './support/worlds.js';

const CONTROLLER_ARGS = ['--workers', 'deployment=5,replicaset=5'];
const STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;

const flags = readFlags('npm run bench -- --scale-out', {
  deployments: number('Deployments', 200),
  pods: number('pods of each', 1),
  rounds: number('times that everything is measured', 3),
  latency: number('what every call to the API takes longer, milliseconds', 20),
  api: listOf('which', WORLD_NAMES),
});
const names = Array.from({ length: flags.deployments }, (_, index) => `scale-${index}`);
const { pods } = flags;
const worlds = flags.api.map((api) => ({ api, start: WORLDS[api] }));

console.log(
  `${names.length} rollouts of ${pods} pods, API calls of ${flags.latency} ms, 5 workers per controller`,
);
for (const { api, start } of worlds) await compare(api, start);

/** One replica and three, in turns. */
async function compare(api: string, start: StartWorld): Promise<void> {
  const alone: number[] = [];
  const three: number[] = [];
  for (let round = 0; round < flags.rounds; round++) {
    alone.push(await measure(start, 1));
    three.push(await measure(start, 3));
    const [one = 0, all = 0] = [alone.at(-1), three.at(-1)];
    console.log(
      `${api} API: 1 replica ${one.toFixed(2)} s, 3 replicas ${all.toFixed(2)} s: ${(one / all).toFixed(2)} times as fast`,
    );
  }
  const ratio = Math.min(...alone) / Math.min(...three);
  console.log(`${api} API: ${ratio.toFixed(2)} times as fast by the best of ${alone.length} rounds each`);
}

/** Seconds that so many replicas take to roll all Deployments out. */
async function measure(startWorld: StartWorld, replicas: number): Promise<number> {
  const dist = join(import.meta.dirname, '..', 'dist');
  const world = await startWorld({ dist, replicas, controllerArgs: CONTROLLER_ARGS });
  try {
    await Promise.all(
      names.map((name) => world.create(aDeployment({ name, replicas: pods, strategy: STRATEGY }))),
    );
    await untilRolledOut(world, names.length, 'web:1');
    // A process spends its first seconds on compiling its own code, and more replicas do not help with that.
    for (const image of ['web:2', 'web:3', 'web:4']) await rollOut(image);
    world.slowDown(flags.latency);
    const startedMs = performance.now();
    await rollOut('web:5');
    return (performance.now() - startedMs) / 1000;
  } finally {
    await world.stop();
  }

  async function rollOut(image: string): Promise<void> {
    await Promise.all(names.map((name) => world.setImage(name, image)));
    await untilRolledOut(world, names.length, image);
  }
}
