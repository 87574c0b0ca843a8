import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OBJECTIVES } from '../src/rollkeeper/insight/objectives/index.js';
import type { Quantity } from '../src/rollkeeper/insight/objectives/index.js';
import { RolloutDurations } from '../src/rollkeeper/insight/durations/rollout-durations.js';
import { SeededRandom, SystemClock } from '../src/machinery/clock/index.js';
import { ConcurrencyLimit } from '../src/machinery/concurrency/index.js';
import type { KubernetesObject, ResourceType } from '../src/machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet } from '../src/machinery/kubernetes/index.js';
import { silentLogger } from '../src/machinery/logging/index.js';
import { SharedInformer } from '../src/client/informer/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { ChaosSet } from '../test/chaos/set/chaos-set.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { number, readFlags } from '../test/support/flags.js';
import { setImage } from './support/deployments.js';
import { cpuSeconds } from './support/process-figures.js';
import { isRolledOut } from './support/rollout-world.js';

const WRITERS = 32;

const flags = readFlags('npm run bench -- --slo', {
  deployments: number('Deployments', 2000),
  pods: number('pods of each', 2),
  rate: number('changes a second', 20),
  seconds: number('for so long', 60),
  replicas: number('controller processes', 3),
});
const names = Array.from({ length: flags.deployments }, (_, index) => `web-${index}`);
const changes = Math.round(flags.rate * flags.seconds);

const set = await ChaosSet.start({
  dist: join(import.meta.dirname, '..', 'dist'),
  replicas: flags.replicas,
  random: Math.random,
  links: 'none',
});
const watching = new AbortController();
try {
  await measure();
} finally {
  watching.abort(new Error('measured'));
  await set.stop();
  set.remove();
}

async function measure(): Promise<void> {
  const seen: Record<Quantity, number[]> = { firstWrite: [], overhead: [] };
  const ended: number[] = [];
  let isMeasured = false;
  const rollouts = new RolloutDurations({
    clock: new SystemClock(),
    metrics: {
      firstWrite: (ms) => void seen.firstWrite.push(ms / 1000),
      overhead: (ms) => void seen.overhead.push(ms / 1000),
      ended: (_, ms) => void ended.push(ms / 1000),
    },
    tellsOf: () => isMeasured,
  });
  const deployments = watchFromOutside<Deployment>(Deployment);
  rollouts.watch({
    deployments: [deployments],
    replicaSets: watchFromOutside<ReplicaSet>(ReplicaSet),
    pods: watchFromOutside<Pod>(Pod),
  });
  const areAll = (image: string): boolean => {
    const known = deployments.lister.list() as readonly Deployment[];
    return known.length === names.length && known.every((deployment) => isRolledOut(deployment, image));
  };
  const writers = new ConcurrencyLimit(WRITERS);
  const create = (name: string): Promise<unknown> =>
    writers.run(() => set.client.create(Deployment, aDeployment({ name, replicas: flags.pods })));
  await Promise.all(names.map(create));
  await waitFor(() => areAll('web:1'), { timeoutMs: 1_800_000, intervalMs: 200, what: 'all Deployments' });

  isMeasured = true;
  const cpuBefore = cpuOfReplicas();
  const startedMs = performance.now();
  await changeSteadily();
  await waitFor(() => ended.length >= changes, { timeoutMs: 600_000, intervalMs: 50, what: 'all rollouts' });
  const elapsed = (performance.now() - startedMs) / 1000;

  console.log(
    `${changes} changes, ${flags.rate} a second, of ${names.length} Deployments with ${flags.pods} pods each; ${flags.replicas} replicas; over after ${elapsed.toFixed(1)} s`,
  );
  console.log(
    `CPU of the replicas: ${(((cpuOfReplicas() - cpuBefore) * 1000) / changes).toFixed(1)} ms a change`,
  );
  for (const quantity of Object.keys(OBJECTIVES) as Quantity[]) print(quantity, seen[quantity]);
  console.log(`${'change to complete'.padEnd(46)} ${figuresOf(ended)}`);
}

/** As users see the cluster: by watches of their own. */
function watchFromOutside<T extends KubernetesObject>(type: ResourceType): SharedInformer<T> {
  const informer = new SharedInformer<T>({
    type,
    client: set.client,
    clock: new SystemClock(),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  void informer.run(watching.signal);
  return informer;
}

/** One change after the other, none waits for the answer to another. A Deployment has long been complete when its turn comes again. */
async function changeSteadily(): Promise<void> {
  const startedMs = performance.now();
  const sent: Promise<void>[] = [];
  for (let index = 0; index < changes; index++) {
    const dueMs = startedMs + (index * 1000) / flags.rate;
    await sleep(Math.max(dueMs - performance.now(), 0));
    const name = names[index % names.length] ?? '';
    sent.push(setImage(set.client, name, `web:${2 + Math.floor(index / names.length)}`));
  }
  await Promise.all(sent);
}

function cpuOfReplicas(): number {
  return set.replicas.reduce((sum, { process }) => sum + cpuSeconds(process.pid), 0);
}

function print(quantity: Quantity, seconds: readonly number[]): void {
  const { p50, p99, title } = OBJECTIVES[quantity];
  const isMet = quantile(seconds, 0.5) <= p50 && quantile(seconds, 0.99) <= p99;
  if (!isMet) process.exitCode = 1;
  console.log(
    `${title.padEnd(46)} ${figuresOf(seconds)}   objective: p50 ${p50}, p99 ${p99} s: ${isMet ? 'met' : 'MISSED'}`,
  );
}

function figuresOf(seconds: readonly number[]): string {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(seconds, share).toFixed(3));
  return `p50 ${p50}  p99 ${p99}  max ${most} s`;
}

function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? Number.NaN;
}
