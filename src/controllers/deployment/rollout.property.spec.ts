import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { SeededRandom } from '../../machinery/clock/index.js';
import type { Deployment } from '../../machinery/kubernetes/index.js';
import { ReplicaSet } from '../../machinery/kubernetes/index.js';
import { aDeployment, setImage } from '../../testing/deployment-builder.js';
import { JudgedRollout } from '../../testing/judged-rollout.js';
import { propertyRuns } from '../../testing/property-runs.js';
import type { RolloutWorld } from '../../testing/rollout-world.js';
import { BROKEN_IMAGE, refusal } from '../../testing/rollout-world.js';
import { maxTotalReplicas, minAvailable } from './kubernetes/limits.js';

/*
 * Invariants, for any size, any limits, any order and delay of the other components, and any API errors:
 *
 * 1. The sum of all ReplicaSets' sizes never exceeds spec.replicas + maxSurge.
 * 2. Never fewer than spec.replicas - maxUnavailable pods are available, once they have been.
 * 3. A Recreate never runs pods of two versions at the same time.
 * 4. In the end exactly the wanted version runs, and the status says so.
 * 5. Cached objects are never changed: all are frozen.
 * 6. For any user changes of size, template, limits, pause or strategy, the rollout is not stuck: point 4 holds, and
 *    each written size keeps to the limits of that moment (see JudgedRollout).
 */
const runs = propertyRuns({ gate: 20 });
const limit = fc.oneof(
  fc.integer({ min: 0, max: 6 }),
  fc.constantFrom(2 ** 31 - 1, 2 ** 31 - 2, '1000%', '99999999999%'),
  fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
);
const scenario = fc.record({
  seed: fc.integer(),
  replicas: fc.integer({ min: 0, max: 14 }),
  maxSurge: limit,
  maxUnavailable: limit,
  refusals: fc.double({ min: 0, max: 0.3, noNaN: true }),
  images: fc.array(fc.constantFrom('app:1', 'app:2', 'app:3', BROKEN_IMAGE), { maxLength: 4 }),
});
const change = fc.oneof(
  fc.record({ image: fc.constantFrom('app:1', 'app:2', 'app:3', BROKEN_IMAGE) }),
  fc.record({ replicas: fc.integer({ min: 0, max: 14 }) }),
  fc.record({ maxSurge: limit, maxUnavailable: limit }),
  fc.record({ paused: fc.boolean() }),
  fc.record({ type: fc.constantFrom<Strategy>('RollingUpdate', 'Recreate') }),
);
const changes = fc.array(change, { minLength: 1, maxLength: 8 });
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
type Strategy = 'RollingUpdate' | 'Recreate';

/** 26 → 24 in all, with 1 to add: proportionally, the old ReplicaSet lost a pod that the floor needs. */
const SHRINKS_WHERE_THERE_IS_ROOM: [Scenario, Change[]] = [
  { seed: 0, replicas: 13, maxSurge: 2 ** 31 - 1, maxUnavailable: '24%', refusals: 0, images: [] },
  [{ image: 'app:3' }, { replicas: 12 }],
];

/** Maximum number of rounds of "all others do their part, then a sync" for a one-by-one rollout of 14 pods. */
const ROUNDS = 60;

describe(`a rollout in any circumstances (SEED=${runs.seed})`, () => {
  it('keeps to its limits at every write and ends complete', async () => {
    await check('RollingUpdate', (world) => {
      const { spec } = world.deployment;
      const asked = world.replicaSets.reduce((sum, set) => sum + (set.spec.replicas ?? 0), 0);
      expect(asked, 'asked for').toBeLessThanOrEqual(maxTotalReplicas(spec));
      expect(world.availablePods.length, 'available').toBeGreaterThanOrEqual(minAvailable(spec));
    });
  });

  it('never runs two versions together when it is a Recreate, and ends complete', async () => {
    await check('Recreate', (world) => {
      const versions = new Set(world.allPods.map((pod) => pod.spec.containers[0]?.image));
      expect(versions.size, [...versions].join(' and ')).toBeLessThanOrEqual(1);
    });
  });

  it('ends complete whatever is changed on its way', async () => {
    const property = fc.asyncProperty(scenario, changes, changeOnTheWay);
    await fc.assert(property, { ...runs, examples: [SHRINKS_WHERE_THERE_IS_ROOM] });
  });
});

async function check(type: Strategy, invariant: (world: RolloutWorld) => void): Promise<void> {
  const property = fc.asyncProperty(scenario, (drawn) => rollOut(drawn, type, invariant));
  await fc.assert(property, runs);
}

async function rollOut(
  drawn: Scenario,
  type: Strategy,
  invariant: (world: RolloutWorld) => void,
): Promise<void> {
  const { random, refuse, world } = worldOf(drawn, type);
  await finish(world);
  refuse(true);
  for (const image of [...drawn.images, 'app:last']) {
    world.change((deployment) => setImage(deployment, image));
    for (let moves = 40 + Math.floor(random.next() * 60); moves > 0; moves--) {
      await world.move();
      invariant(world);
    }
  }
  refuse(false);
  await finish(world, () => invariant(world));
  expectComplete(world, 'app:last');
}

/** Few moves between two changes, so that many changes hit a pass that was refused. */
async function changeOnTheWay(drawn: Scenario, changed: readonly Change[]): Promise<void> {
  const { random, refuse, world } = worldOf(drawn, 'RollingUpdate');
  await finish(world);
  refuse(true);
  for (const each of changed) {
    world.change((deployment) => applyChange(deployment, each, drawn));
    for (let moves = Math.floor(random.next() * 20); moves > 0; moves--) await world.move();
  }
  refuse(false);
  world.change((deployment) => {
    setImage(deployment, 'app:last');
    deployment.spec.paused = false;
  });
  await finish(world);
  expectComplete(world, 'app:last');
}

function applyChange(deployment: Deployment, each: Change, drawn: Scenario): void {
  if ('image' in each) setImage(deployment, each.image);
  if ('replicas' in each) deployment.spec.replicas = each.replicas;
  if ('paused' in each) deployment.spec.paused = each.paused;
  if ('type' in each) deployment.spec.strategy = strategyOf(drawn, each.type);
  if ('maxSurge' in each && deployment.spec.strategy?.type === 'RollingUpdate')
    deployment.spec.strategy = strategyOf(each, 'RollingUpdate');
}

function worldOf(
  drawn: Scenario,
  type: Strategy,
): { world: RolloutWorld; random: SeededRandom; refuse: (refuses: boolean) => void } {
  const random = new SeededRandom(drawn.seed);
  let refusing = false;
  const world = new JudgedRollout({
    deployment: aDeployment({ replicas: drawn.replicas, strategy: strategyOf(drawn, type) }),
    random,
    onWrite: (write: AttemptedWrite) => {
      if (refusing && write.type === ReplicaSet && random.next() < drawn.refusals) throw refusal(409);
      if (refusing && random.next() < drawn.refusals / 2) throw refusal(500);
    },
  });
  const refuse = (refuses: boolean): void => void (refusing = refuses);
  return { world, random, refuse };
}

async function finish(world: RolloutWorld, each: () => void = () => undefined): Promise<void> {
  let before = -1;
  for (let round = 0; round < ROUNDS && world.api.changes !== before; round++) {
    before = world.api.changes;
    await world.sync();
    each();
    await world.settle();
    each();
  }
}

function expectComplete(world: RolloutWorld, image: string): void {
  const { spec, status, metadata } = world.deployment;
  const replicas = spec.replicas ?? 0;
  expect(world.availablePods.map((pod) => pod.spec.containers[0]?.image)).toEqual(
    Array(replicas).fill(image),
  );
  expect(world.allPods).toHaveLength(replicas);
  expect(status?.updatedReplicas ?? 0).toBe(replicas);
  expect(status?.availableReplicas ?? 0).toBe(replicas);
  expect(status?.observedGeneration).toBe(metadata.generation);
  const progressing = status?.conditions?.find((condition) => condition.type === 'Progressing');
  expect(progressing?.reason).toBe('NewReplicaSetAvailable');
}

function strategyOf(
  { maxSurge, maxUnavailable }: Pick<Scenario, 'maxSurge' | 'maxUnavailable'>,
  type: Strategy,
): ReturnType<typeof aDeployment>['spec']['strategy'] {
  return type === 'Recreate' ? { type } : { type, rollingUpdate: { maxSurge, maxUnavailable } };
}
