import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { startEmbeddedWorld } from './support/embedded-world.js';
import { startLightWorld } from './support/light-world.js';
import { isRolledOut } from './support/rollout-world.js';

const CONTROLLER_ARGS = ['--workers', 'deployment=5,replicaset=5'];
const STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
type StartWorld = typeof startEmbeddedWorld;
const WORLDS = new Map<string, StartWorld>([
  ['light', startLightWorld],
  ['embedded', startEmbeddedWorld],
]);

const { values } = parseArgs({
  options: {
    deployments: { type: 'string', default: '200' },
    pods: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    // What every call to the API takes longer, milliseconds.
    latency: { type: 'string', default: '20' },
    // light: one that is next to free, as if it ran on other machines; embedded: all of `rollkeeper up` on this machine.
    api: { type: 'string', default: 'light,embedded' },
  },
});
const names = Array.from({ length: Number(values.deployments) }, (_, index) => `scale-${index}`);
const pods = Number(values.pods);
const worlds = values.api.split(',').map((api) => ({ api, start: worldNamed(api) }));

console.log(
  `${names.length} rollouts of ${pods} pods, API calls of ${values.latency} ms, 5 workers per controller`,
);
for (const { api, start } of worlds) await compare(api, start);

function worldNamed(name: string): StartWorld {
  const start = WORLDS.get(name);
  if (!start) throw new Error(`--api: ${[...WORLDS.keys()].join(' or ')}, not ${name}`);
  return start;
}

/** One replica and three, in turns. */
async function compare(api: string, start: StartWorld): Promise<void> {
  const alone: number[] = [];
  const three: number[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
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
    await untilRolledOut('web:1');
    // What a process spends on compiling its own code is not what more replicas are for.
    for (const image of ['web:2', 'web:3', 'web:4']) await rollOut(image);
    world.slowDown(Number(values.latency));
    const startedMs = performance.now();
    await rollOut('web:5');
    return (performance.now() - startedMs) / 1000;
  } finally {
    await world.stop();
  }

  async function rollOut(image: string): Promise<void> {
    await Promise.all(names.map((name) => world.setImage(name, image)));
    await untilRolledOut(image);
  }

  function untilRolledOut(image: string): Promise<boolean> {
    const allDone = (): boolean => {
      const known = world.deployments();
      return known.length === names.length && known.every((deployment) => isRolledOut(deployment, image));
    };
    return waitFor(allDone, { timeoutMs: 600_000, what: 'all rollouts' });
  }
}
