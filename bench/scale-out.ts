import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { startEmbeddedWorld } from './support/embedded-world.js';
import { startLightWorld } from './support/light-world.js';
import { isRolledOut } from './support/rollout-world.js';

const CONTROLLER_ARGS = ['--workers', 'deployment=5,replicaset=5'];
const STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
const WORLDS = new Map([
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
    // embedded: all of `rollkeeper up` on this machine; light: an API that is next to free, as one on other machines.
    api: { type: 'string', default: 'embedded' },
  },
});
const names = Array.from({ length: Number(values.deployments) }, (_, index) => `scale-${index}`);
const pods = Number(values.pods);
const startWorld = worldNamed(values.api);

console.log(
  `${names.length} rollouts of ${pods} pods, ${values.api} API, calls of ${values.latency} ms, 5 workers per controller`,
);
const alone: number[] = [];
const three: number[] = [];
for (let round = 0; round < Number(values.rounds); round++) {
  alone.push(await measure(1));
  three.push(await measure(3));
}
const ratio = Math.min(...alone) / Math.min(...three);
console.log(
  `3 replicas are ${ratio.toFixed(2)} times as fast as 1 (the best of ${alone.length} rounds each)`,
);

function worldNamed(name: string): typeof startEmbeddedWorld {
  const start = WORLDS.get(name);
  if (!start) throw new Error(`--api: ${[...WORLDS.keys()].join(' or ')}, not ${name}`);
  return start;
}

/** Seconds that so many replicas take to roll all Deployments out. */
async function measure(replicas: number): Promise<number> {
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
    const seconds = (performance.now() - startedMs) / 1000;
    console.log(`${replicas} replica${replicas === 1 ? '' : 's'}: ${seconds.toFixed(2)} s`);
    return seconds;
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
