import { join } from 'node:path';
import { SeededRandom } from '../src/machinery/clock/index.js';
import type { KubernetesObject } from '../src/machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet } from '../src/machinery/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import type { Hopeless } from '../test/chaos/hopeless/hopeless-kinds.js';
import { HOPELESS_KINDS, hopelessDeployments, hopelessIdIn } from '../test/chaos/hopeless/hopeless-kinds.js';
import type { CallRate } from '../test/chaos/hopeless/hopeless-world.js';
import { HopelessWorld } from '../test/chaos/hopeless/hopeless-world.js';
import type { Standing } from '../test/chaos/hopeless/standings.js';
import { queuedOf, standingsOf } from '../test/chaos/hopeless/standings.js';
import { ChaosSet } from '../test/chaos/set/chaos-set.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { number, readFlags, text } from '../test/support/flags.js';
import { setImage } from './support/deployments.js';

/** Calls of a hopeless Deployment after which it has certainly begun to fail. */
const CALLS_OF_A_FIRST_FAILURE = 3;
const PARKED_WITHIN_MS = 600_000;
const SEEN_OF_EACH_ROUND = { timeoutMs: 900_000, intervalMs: 100 } as const;

const { bad, deployments, dist, replicas, rounds, watchSeconds } = readFlags('npm run bench -- --hopeless', {
  deployments: number('Deployments, the hopeless among them', 1000),
  bad: number('of them hopeless', 100),
  replicas: number('controller processes', 3),
  rounds: number('pairs of rollouts, alone and beside the hopeless', 2),
  watchSeconds: number('how long the calls of the hopeless are counted once they are parked', 60),
  dist: text('the build to measure', join(import.meta.dirname, '..', 'dist')),
});
const good = Array.from({ length: deployments - bad }, (_, index) => `good-${index}`);
const seconds = (ms: number): string => (ms / 1000).toFixed(2);

const random = new SeededRandom(1);
const set = await ChaosSet.start({
  dist,
  replicas,
  random: () => random.next(),
});
const world = new HopelessWorld(set);
try {
  world.install();
  console.log(`${good.length} Deployments that can roll out, ${bad} that never will, 1 pod each`);
  await Promise.all(good.map(createGood));
  await untilRolledOut('the first rollout');
  const times = { alone: 0, beside: 0 };
  let hopeless: Hopeless[] = [];
  let madeAtMs = 0;
  for (let round = 1; round <= rounds; round++) {
    await remove(hopeless);
    const alone = await rollOut(`web:${round}-alone`);
    hopeless = hopelessDeployments(bad, round * bad);
    madeAtMs = performance.now();
    await create(hopeless);
    const beside = await rollOut(`web:${round}-beside`);
    console.log(`round ${round}: alone ${seconds(alone)} s, beside the hopeless ${seconds(beside)} s`);
    times.alone += alone;
    times.beside += beside;
  }
  console.log(
    `alone ${seconds(times.alone)} s, beside ${seconds(times.beside)} s: ${(times.beside / times.alone).toFixed(2)} times as long`,
  );
  await watch(hopeless, madeAtMs);
} finally {
  await set.stop();
  set.remove();
}

async function createGood(name: string): Promise<void> {
  const deployment = aDeployment({ name });
  await set.client.create(Deployment, {
    ...deployment,
    metadata: { ...deployment.metadata, labels: { load: 'good' } },
    // So that no rollout has more old ReplicaSets to look at than the one before.
    spec: { ...deployment.spec, revisionHistoryLimit: 0 },
  });
}

/** Milliseconds until the last good Deployment runs the image. */
async function rollOut(image: string): Promise<number> {
  const startedMs = performance.now();
  await Promise.all(good.map((name) => setImage(set.client, name, image)));
  await untilRolledOut(image);
  return performance.now() - startedMs;
}

function untilRolledOut(what: string): Promise<boolean> {
  const isDone = ({ metadata, status }: Deployment): boolean =>
    status?.observedGeneration === metadata.generation &&
    status?.replicas === 1 &&
    status.updatedReplicas === 1 &&
    status.availableReplicas === 1;
  return waitFor(
    async () => {
      const { items } = await set.client.list<Deployment>(Deployment, {
        namespace: 'default',
        labelSelector: 'load=good',
      });
      return items.length === good.length && items.every(isDone);
    },
    { ...SEEN_OF_EACH_ROUND, what },
  );
}

/** Resolves once every one of them has begun to fail. */
async function create(hopeless: readonly Hopeless[]): Promise<void> {
  await Promise.all(hopeless.map(({ deployment }) => set.client.create(Deployment, deployment)));
  await waitFor(() => hopeless.every(({ id }) => world.callsOf(id) >= CALLS_OF_A_FIRST_FAILURE), {
    ...SEEN_OF_EACH_ROUND,
    what: 'each hopeless Deployment to fail',
  });
}

async function remove(hopeless: readonly Hopeless[]): Promise<void> {
  await Promise.all(hopeless.map(({ deployment }) => set.client.delete(Deployment, deployment.metadata)));
  await world.removeSquatters();
  await waitFor(
    async () => {
      for (const type of [ReplicaSet, Pod]) {
        const { items } = await set.client.list<KubernetesObject>(type, { namespace: 'default' });
        if (items.some(({ metadata }) => hopelessIdIn(metadata.name) !== undefined)) return false;
      }
      return true;
    },
    { ...SEEN_OF_EACH_ROUND, what: 'the hopeless to be gone' },
  );
}

/** Counts what the hopeless cost: minute by minute, and once all are parked that ever will be. */
async function watch(hopeless: readonly Hopeless[], madeAtMs: number): Promise<void> {
  const minutes = ['1st minute', '2nd minute', '3rd minute'];
  await untilMs(madeAtMs + minutes.length * 60_000);
  await waitFor(
    async () => {
      const { parked } = await queuedOf(set);
      return hopeless.every(({ id, kind }) => kind === 'rejected' || parked.has(id));
    },
    { timeoutMs: PARKED_WITHIN_MS, intervalMs: 1000, what: 'what fails to be parked' },
  );
  const standings = await standingsOf(set, hopeless);
  const parkedMs = performance.now();
  console.log('everything is parked but what nodes reject');
  const watchMs = watchSeconds * 1000;
  await untilMs(parkedMs + watchMs);
  const eachMinute = minutes.map((name, index) => {
    const fromMs = madeAtMs + index * 60_000;
    return [name, world.rates(hopeless, fromMs, fromMs + 60_000)] as const;
  });
  const parked = world.rates(hopeless, parkedMs, parkedMs + watchMs);
  print({ ...Object.fromEntries(eachMinute), parked });
  for (const kind of HOPELESS_KINDS)
    printStandings(
      kind,
      standings.filter(({ hopeless: one }) => one.kind === kind),
    );
}

function untilMs(timeMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(timeMs - performance.now(), 0)));
}

function print(windows: Readonly<Record<string, readonly CallRate[]>>): void {
  console.log('API calls by the controllers per hopeless Deployment and minute, mean (most):');
  console.log(
    ['kind'.padEnd(10), 'keys'.padStart(5), ...Object.keys(windows).map((name) => name.padStart(15))].join(
      ' ',
    ),
  );
  const [first = []] = Object.values(windows);
  first.forEach(({ keys, kind }, index) => {
    const cells = Object.values(windows).map((rates) => {
      const { mean, most } = rates[index] ?? { mean: 0, most: 0 };
      return `${mean.toFixed(1)} (${most.toFixed(1)})`.padStart(15);
    });
    console.log([kind.padEnd(10), String(keys).padStart(5), ...cells].join(' '));
  });
}

function printStandings(kind: string, standings: readonly Standing[]): void {
  const count = (is: (standing: Standing) => boolean): string =>
    `${standings.filter(is).length} of ${standings.length}`;
  console.log(
    `${kind}: ${count(({ parked }) => parked !== undefined)} parked, ${count(({ delayed }) => delayed !== undefined)} come back later, ` +
      `${count(({ explained }) => explained.state === 'blocked')} explained as blocked, ${count(({ told }) => told !== undefined)} told`,
  );
  const [one] = standings;
  if (!one) return;
  if (one.parked !== undefined) console.log(`  parked: ${shortened(one.parked)}`);
  if (one.delayed) console.log(`  comes back in ${seconds(one.delayed.inMs)} s`);
  console.log(`  explain: ${shortened(one.explained.sentence)}`);
  console.log(`  told: ${shortened(one.told ?? 'nothing')}`);
}

function shortened(text: string): string {
  return text.replaceAll(/x{20,}/g, 'x…x').slice(0, 240);
}
