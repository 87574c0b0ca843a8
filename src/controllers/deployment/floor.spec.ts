import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import type { DeploymentShape } from '../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../testing/deployment-builder.js';
import { JudgedRollout } from '../../testing/judged-rollout.js';
import { BROKEN_IMAGE } from '../../testing/rollout-world.js';
import { createDeploymentController } from './definition.js';
import { minAvailable } from './kubernetes/limits.js';
import { OWN_RULES } from './kubernetes/rollout-rules.js';
import { isNightly } from '../../testing/property-runs.js';

/** A settled rollout that cannot succeed, with this many pods. */
async function stuck(
  replicas: number,
  shape: DeploymentShape = {},
  rules = OWN_RULES,
): Promise<JudgedRollout> {
  const world = new JudgedRollout({
    deployment: aDeployment({ replicas, image: 'good:1', ...shape }),
    random: new SeededRandom(1),
    controller: createDeploymentController({ rules }),
  });
  await waves(world);
  world.change((deployment) => setImage(deployment, BROKEN_IMAGE));
  await waves(world);
  return world;
}

async function waves(world: JudgedRollout): Promise<void> {
  for (let before = -1; before !== world.api.changes;) {
    before = world.api.changes;
    await world.sync();
    await world.settle();
  }
}

async function scale(world: JudgedRollout, replicas: number): Promise<void> {
  world.change(({ spec }) => void (spec.replicas = replicas));
  await waves(world);
}

/** Larger sizes each night. */
const MOST = isNightly ? 9 : 6;

function sizes(world: JudgedRollout): Record<string, number | undefined> {
  return Object.fromEntries(
    world.replicaSets.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas]),
  );
}

describe('the availability floor while the size changes in the middle of a rollout', () => {
  it('holds where in proportion 7 available pods would become 5: 2 → 9 → 7', async () => {
    const world = await stuck(2);
    await scale(world, 9);
    expect(sizes(world)).toEqual({ 'good:1': 7, [BROKEN_IMAGE]: 5 });
    await scale(world, 7);
    expect(sizes(world)).toEqual({ 'good:1': 6, [BROKEN_IMAGE]: 3 });
    expect(world.availablePods).toHaveLength(6);
    expect(world.deployment.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'True' }),
    );
  });

  it('would not hold by sizes alone', async () => {
    const world = await stuck(2, {}, { ...OWN_RULES, floor: false });
    await scale(world, 9);
    await expect(scale(world, 7)).rejects.toThrow('5 available pods stay, the floor is 6');
  });

  it('takes everything that is not available first while the rollout is paused', async () => {
    const world = await stuck(2);
    await scale(world, 9);
    world.change(({ spec }) => void (spec.paused = true));
    await scale(world, 7);
    expect(sizes(world)).toEqual({ 'good:1': 7, [BROKEN_IMAGE]: 2 });
  });

  it('leaves the shares alone where they leave the floor', async () => {
    const world = await stuck(10);
    expect(sizes(world)).toEqual({ 'good:1': 8, [BROKEN_IMAGE]: 5 });
    world.change(({ spec }) => void (spec.paused = true));
    await scale(world, 5);
    // 13 → 7: 8 × 7 / 13 = 4.3, 5 × 7 / 13 = 2.7; the floor is 4.
    expect(sizes(world)).toEqual({ 'good:1': 4, [BROKEN_IMAGE]: 3 });
  });

  it.each([
    ['the default limits', {}],
    ['no surge', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } }],
    ['all in one', { strategy: { rollingUpdate: { maxSurge: '100%', maxUnavailable: '50%' } } }],
    ['a wide surge', { strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 0 } } }],
  ] as const)(
    `holds for all sequences of three sizes up to ${MOST}, with %s`,
    async (_, shape) => {
      for (let first = 1; first <= MOST; first++) {
        for (let second = 0; second <= MOST; second++) {
          for (let third = 0; third <= MOST; third++) {
            const world = await stuck(first, shape);
            await scale(world, second);
            const before = world.availablePods.length;
            await scale(world, third);
            const floor = Math.min(before, minAvailable(world.deployment.spec));
            const sequence = `${first} → ${second} → ${third}`;
            expect(world.availablePods.length, sequence).toBeGreaterThanOrEqual(floor);
          }
        }
      }
    },
    120_000,
  );
});
