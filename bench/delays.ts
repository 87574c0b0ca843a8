import { Deployment } from '../src/machinery/kubernetes/index.js';
import { silentLogger } from '../src/machinery/logging/index.js';
import { createDeploymentController } from '../src/controllers/deployment/index.js';
import { createReplicaSetController } from '../src/controllers/replicaset/index.js';
import type { ChangeWaits } from '../src/controllers/shared/change-waits.js';
import { memoryCoordination } from '../src/runtime/operator/coordination/memory-coordination.js';
import type { ControllerManager } from '../src/runtime/index.js';
import { createManager } from '../src/runtime/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { Up } from '../test/e2e/support/up.js';
import { number, readFlags, text } from '../test/support/flags.js';
import { setImage, watchDeployments } from './support/deployments.js';
import { isRolledOut } from './support/rollout-world.js';
import { spread } from './support/spread.js';
import { syncsIn } from './support/usage.js';

/** One way of waiting before a sync. */
interface Variant {
  readonly title: string;
  /** Both controllers'. */
  readonly waits?: ChangeWaits;
}

/** The average cost of a rollout of all Deployments. */
interface Cost {
  readonly writes: number;
  readonly syncs: number;
  readonly seconds: number;
}

const flags = readFlags('npm run bench -- --delays', {
  deployments: number('Deployments', 50),
  pods: number('pods of each', 10),
  rounds: number('times that everything is measured', 3),
  measured: number('rollouts that are measured', 4),
  'ready-after': text('how long pods take to become ready, such as 1s', '0s'),
});
const names = Array.from({ length: flags.deployments }, (_, index) => `web-${index}`);

const annotations = { 'node.rollkeeper.dev/ready-after': flags['ready-after'] };

/** The general wait in place of each, and that one at 0. */
const VARIANTS: readonly Variant[] = [
  { title: 'as it is' },
  { title: 'burstMs 0', waits: { burstMs: 0 } },
  { title: 'waveMs 100', waits: { waveMs: 100 } },
  { title: 'countMs 100', waits: { countMs: 100 } },
  { title: 'none of them', waits: { burstMs: 0, waveMs: 0, countMs: 0 } },
];

const costs = new Map<string, Cost[]>(VARIANTS.map(({ title }) => [title, []]));
const up = await Up.start({ args: ['--replicas', '1', '--', '--controllers=namespace'] });
const client = await up.client();
const watched = await watchDeployments(client);
let image = 1;
try {
  await Promise.all(
    names.map((name) => client.create(Deployment, aDeployment({ name, replicas: flags.pods, annotations }))),
  );
  for (let round = 0; round < flags.rounds; round++)
    for (const variant of VARIANTS) costs.get(variant.title)?.push(await measure(variant));
} finally {
  await watched.stop();
  await client.close();
  await up.stopAndRemove();
}
print();

/** On one replica of its own, within this process. */
async function measure({ waits }: Variant): Promise<Cost> {
  const manager = await createManager({
    name: 'bench-delays',
    kubeconfig: up.kubeconfig,
    coordination: memoryCoordination(),
    onlyProcess: true,
    logger: silentLogger,
  });
  manager.add(createDeploymentController({ waits }), createReplicaSetController({ waits }));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  try {
    await untilRolledOut();
    await rollOut();
    const [writesBefore, syncsBefore] = [watched.writes, await syncsOf(manager)];
    const startedMs = performance.now();
    for (let rollout = 0; rollout < flags.measured; rollout++) await rollOut();
    const seconds = (performance.now() - startedMs) / 1000 / flags.measured;
    const each = (from: number, to: number): number => (to - from) / flags.measured;
    return {
      // Without the change itself.
      writes: each(writesBefore, watched.writes) - names.length,
      syncs: each(syncsBefore, await syncsOf(manager)),
      seconds,
    };
  } finally {
    stop.abort();
    await running;
  }
}

async function rollOut(): Promise<void> {
  image++;
  await Promise.all(names.map((name) => setImage(client, name, `web:${image}`)));
  await untilRolledOut();
}

async function untilRolledOut(): Promise<void> {
  const allDone = (): boolean => {
    const known = watched.list();
    return known.length === names.length && known.every((each) => isRolledOut(each, `web:${image}`));
  };
  await waitFor(allDone, { timeoutMs: 600_000, intervalMs: 10, what: 'all rollouts' });
}

async function syncsOf({ metrics }: ControllerManager): Promise<number> {
  return syncsIn(await metrics.serialize());
}

function print(): void {
  console.log(
    `one rollout of ${names.length} x ${flags.pods}; median, and from least to most of ${flags.rounds} rounds`,
  );
  console.log('waits'.padEnd(34), ...['writes', 'syncs', 'seconds'].map((title) => title.padStart(24)));
  for (const [title, measured] of costs)
    console.log(
      title.padEnd(34),
      spread(measured.map(({ writes }) => writes)).padStart(24),
      spread(measured.map(({ syncs }) => syncs)).padStart(24),
      spread(
        measured.map(({ seconds }) => seconds),
        2,
      ).padStart(24),
    );
}
