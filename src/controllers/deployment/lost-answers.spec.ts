import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import { ReplicaSet } from '../../machinery/kubernetes/index.js';
import { aDeployment, setImage } from '../../testing/deployment-builder.js';
import type { WriteFault } from './deployment-harness.fixture.js';
import { DeploymentHarness, LATE_MS } from './deployment-harness.fixture.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { maxTotalReplicas } from './kubernetes/limits.js';

const UNANSWERED: readonly WriteFault[] = ['answer-lost', 'answered-500', 'stored-late', 'never-arrived'];
const FAULTS: readonly WriteFault[] = [...UNANSWERED, 'refused'];
const runs = propertyRuns({ gate: 15, nightly: 300 });

/** Two pods, and a third while they are replaced one by one. */
function twoAndOne(annotations: Record<string, string> = {}) {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  return aDeployment({ replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate }, annotations });
}

const POLICIES = {
  'rollkeeper.dev/steps': '50%; wait 1m',
  'rollkeeper.dev/on-failure': 'rollback',
  'rollkeeper.dev/bake-time': '5m',
};

/** `app:2` has one pod of three; the next sync removes one from `app:1`, and then adds a second to `app:2`. */
async function midway(processes: number): Promise<DeploymentHarness> {
  const harness = new DeploymentHarness(twoAndOne(), { processes });
  await harness.settle();
  await harness.change((deployment) => setImage(deployment, 'app:2'));
  harness.catchUp();
  await harness.sync();
  harness.catchUp();
  for (const replicaSet of harness.replicaSets) await harness.makeReady(replicaSet);
  harness.catchUp();
  return harness;
}

describe('a size that was written without an answer', () => {
  it.each(UNANSWERED)('counts when the template is changed at once: %s', async (fault) => {
    for (const next of [0, 1]) {
      const harness = await midway(2);
      const sizes: number[] = [];
      harness.cluster.onEvent((type) => void (type === ReplicaSet && sizes.push(harness.size)));
      harness.faults = [undefined, fault];
      await harness.sync(0);
      await harness.change((deployment) => setImage(deployment, 'app:3'));
      await harness.sync(next, 14);
      await harness.sync(next, 2 * LATE_MS);
      expect(Math.max(...sizes), `then process ${next}`).toBeLessThanOrEqual(3);
      await harness.settle();
      expect(harness.size).toBe(2);
      harness.close();
    }
  });

  it('holds the next sync up only for as long as it may still be stored', async () => {
    const harness = await midway(1);
    harness.faults = [undefined, 'never-arrived'];
    await harness.sync(0);
    const before = harness.cluster.count('update', ReplicaSet);
    await harness.sync(0, 999);
    expect(harness.cluster.count('update', ReplicaSet)).toBe(before);
    await harness.sync(0, 20);
    expect(harness.cluster.count('update', ReplicaSet)).toBe(before + 1);
    harness.close();
  });
});

/**
 * Invariants for any outcome of the writes, any cache delays, and any user changes:
 * 1. the sum of all ReplicaSets' sizes never exceeds the maximum allowed since the last rest;
 * 2. once there are no more faults, the wanted version has the wanted size, and no other has any.
 */
describe(`a rollout under random faults and stale caches (SEED=${runs.seed})`, () => {
  it.each([
    { processes: 1, under: 'no policies', annotations: {} },
    { processes: 3, under: 'no policies', annotations: {} },
    { processes: 3, under: 'steps, a bake time and rollbacks', annotations: POLICIES },
  ])(
    'keeps to its limits and ends complete, by $processes processes, under $under',
    async ({ annotations, processes }) => {
      const property = fc.asyncProperty(fc.nat(), async (runSeed) =>
        runRandomly(runSeed, processes, annotations),
      );
      await fc.assert(property, runs);
    },
  );
});

async function runRandomly(
  runSeed: number,
  processes: number,
  annotations: Record<string, string>,
): Promise<void> {
  const random = new SeededRandom(runSeed);
  const below = (limit: number): number => Math.floor(random.next() * limit);
  const harness = new DeploymentHarness(twoAndOne(annotations), { processes });
  await harness.settle();
  let most = maxTotalReplicas(harness.deployment.spec);
  const violations: string[] = [];
  harness.cluster.onEvent((type) => {
    if (type === ReplicaSet && harness.size > most) violations.push(`${harness.size}, allowed ${most}`);
  });
  for (let step = 0; step < 60; step++) {
    expect(violations, `seed ${runSeed}, step ${step}`).toEqual([]);
    const dice = below(10);
    if (dice < 5) {
      harness.faults = Array.from({ length: below(3) }, () =>
        below(2) === 0 ? undefined : FAULTS[below(FAULTS.length)],
      );
      await harness.sync(below(processes), [0, 14, 200, 1500][below(4)]);
    } else if (dice < 7) {
      const { deployments, replicaSets } = harness.cachesOf(below(processes));
      deployments.catchUp(below(deployments.lag + 1));
      replicaSets.catchUp(below(2) === 0 ? replicaSets.lag : below(replicaSets.lag + 1));
    } else if (dice === 7) {
      const replicaSet = harness.replicaSets[below(harness.replicaSets.length)];
      if (replicaSet) await harness.makeReady(replicaSet);
    } else if (dice === 8) {
      await harness.change((deployment) => {
        if (below(3) === 0) deployment.spec.replicas = 1 + below(5);
        else setImage(deployment, `app:${below(4)}`);
      });
      most = Math.max(most, maxTotalReplicas(harness.deployment.spec));
    } else if (below(3) === 0) {
      await harness.settle();
      expectComplete(harness, runSeed);
      most = maxTotalReplicas(harness.deployment.spec);
    }
  }
  await harness.settle();
  expect(violations, `seed ${runSeed}`).toEqual([]);
  expectComplete(harness, runSeed);
  harness.close();
}

function expectComplete({ deployment, replicaSets }: DeploymentHarness, runSeed: number): void {
  const running = replicaSets.filter(({ spec }) => (spec.replicas ?? 1) > 0);
  const found = running.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas]);
  const { replicas, template } = deployment.spec;
  expect(found, `seed ${runSeed}`).toEqual([[template.spec?.containers[0]?.image, replicas]]);
}
