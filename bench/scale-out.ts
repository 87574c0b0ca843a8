import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { SeededRandom, SystemClock } from '../src/clock/index.js';
import type { Lister } from '../src/informer/index.js';
import { SharedInformer } from '../src/informer/index.js';
import type { DeepReadonly, Deployment } from '../src/kubernetes/index.js';
import { DEPLOYMENTS } from '../src/kubernetes/index.js';
import { silentLogger } from '../src/logging/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { ChaosSet } from '../test/chaos/set/chaos-set.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';

const WORKERS = 'deployment=5,replicaset=5';

const { values } = parseArgs({
  options: {
    deployments: { type: 'string', default: '200' },
    pods: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    // What every call to the API takes longer, milliseconds.
    latency: { type: 'string', default: '20' },
  },
});
const names = Array.from({ length: Number(values.deployments) }, (_, index) => `scale-${index}`);
const pods = Number(values.pods);
const latencyMs = Number(values.latency);

console.log(
  `${names.length} rollouts of ${pods} pods, API calls of ${latencyMs} ms, 5 workers per controller`,
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

/** Seconds that so many replicas take to roll all Deployments out. */
async function measure(replicas: number): Promise<number> {
  const random = new SeededRandom(1);
  const set = await ChaosSet.start({
    dist: join(import.meta.dirname, '..', 'dist'),
    replicas,
    random: () => random.next(),
    controllerArgs: ['--workers', WORKERS],
    links: 'none',
  });
  // Watched, not listed again and again: that would cost as much as what is measured.
  const shared = { client: set.client, clock: new SystemClock(), random, logger: silentLogger };
  const deployments = new SharedInformer<Deployment>({ ...shared, type: DEPLOYMENTS });
  const watching = new AbortController();
  const watch = deployments.run(watching.signal);
  try {
    await set.untilSettled();
    await deployments.waitForSync(watching.signal);
    await Promise.all(
      names.map((name) => set.client.create(DEPLOYMENTS, aDeployment({ name, replicas: pods }))),
    );
    await untilRolledOut(deployments.lister, 'web:1');
    // What a process spends on compiling its own code is not what more replicas are for.
    for (const image of ['web:2', 'web:3', 'web:4']) await rollOut(image);
    for (const replica of set.replicas) replica.process.send({ chaos: 'latency', ms: latencyMs });
    const startedMs = performance.now();
    await rollOut('web:5');
    const seconds = (performance.now() - startedMs) / 1000;
    console.log(`${replicas} replica${replicas === 1 ? '' : 's'}: ${seconds.toFixed(2)} s`);
    return seconds;
  } finally {
    watching.abort(new Error('measured'));
    await watch;
    await set.stop();
    set.remove();
  }

  async function rollOut(image: string): Promise<void> {
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
    const patch = { type: 'strategic', body } as const;
    await Promise.all(
      names.map((name) => set.client.patch(DEPLOYMENTS, { namespace: 'default', name }, patch)),
    );
    await untilRolledOut(deployments.lister, image);
  }
}

function untilRolledOut(deployments: Lister<Deployment>, image: string): Promise<boolean> {
  const isDone = ({ metadata, spec, status }: DeepReadonly<Deployment>): boolean =>
    spec.template.spec?.containers[0]?.image === image &&
    status?.observedGeneration === metadata.generation &&
    [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every((count) => count === pods);
  return waitFor(
    () => {
      const known = deployments.list();
      return known.length === names.length && known.every(isDone);
    },
    { timeoutMs: 600_000, what: 'all rollouts' },
  );
}
