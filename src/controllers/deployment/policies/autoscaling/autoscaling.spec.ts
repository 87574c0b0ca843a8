import { describe, expect, it } from 'vitest';
import { setImage } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { refusal } from '../../../../testing/rollout-world.js';

const total = (lab: PolicyLab): number => Object.values(lab.sizes).reduce((sum, size) => sum + size, 0);
const asked = (lab: PolicyLab): number | undefined => lab.deployment.spec.replicas;

/** A rollout of ten pods that has come to its first step. */
async function atFirstStep(autoscaling: string | undefined): Promise<PolicyLab> {
  const policies = { steps: '20%; approve', ...(autoscaling && { autoscaling }) };
  const lab = await PolicyLab.rolledOut(policies, { replicas: 10 });
  await lab.image('app:2');
  expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
  return lab;
}

describe('a change of replicas in the middle of a rollout', () => {
  it('counts in full without the policy, by the shares of the steps', async () => {
    const lab = await atFirstStep(undefined);
    await lab.scale(5);
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 1 });
  });

  it.each(['hold', 'floor'])(
    'waits, to a smaller number, for the end of the rollout: %s [kubernetes#98914, keda#2720]',
    async (mode) => {
      const lab = await atFirstStep(mode);
      await lab.scale(4);
      expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
      expect(asked(lab), 'the spec stays that of its author').toBe(4);
      expect(lab.eventsOf('SizeHeld')).toEqual([
        'Normal SizeHeld replicas is 4; until the rollout is over, 10 count, as when it began',
      ]);
      await lab.annotate('approve', 'jane');
      expect(lab.sizes).toEqual({ 'app:2': 4 });
      expect(lab.replicaSet('app:2').metadata.annotations).not.toHaveProperty(`${P}size-at-start`);
    },
  );

  it('waits, to a larger number, under hold, and counts under floor', async () => {
    const held = await atFirstStep('hold');
    await held.scale(20);
    expect(held.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
    const floor = await atFirstStep('floor');
    await floor.scale(20);
    expect(floor.sizes).toEqual({ 'app:1': 16, 'app:2': 4 });
  });

  it.each(['hold', 'floor'])('to 0 always counts: %s', async (mode) => {
    const lab = await atFirstStep(mode);
    await lab.scale(0);
    expect(total(lab)).toBe(0);
  });

  it('counts at once if no rollout is under way', async () => {
    const lab = await PolicyLab.rolledOut({ autoscaling: 'hold' }, { replicas: 10 });
    await lab.scale(4);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('has the same floor if another version comes in the middle', async () => {
    const lab = await atFirstStep('floor');
    await lab.scale(4);
    await lab.image('app:3');
    expect(total(lab)).toBe(10);
  });

  it('leaves its size to the next version although it has no pod yet', async () => {
    const lab = await PolicyLab.rolledOut({ steps: 'approve; 50%', autoscaling: 'hold' }, { replicas: 3 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 3 });
    lab.world.change((deployment) => {
      setImage(deployment, 'app:3');
      deployment.spec.replicas = 1;
    });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 3 });
  });

  it.each([1, 2, 3])('has the same floor if the process dies before write %i of that', async (effect) => {
    const strategy = {
      type: 'RollingUpdate' as const,
      rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 },
    };
    const lab = await PolicyLab.rolledOut(
      { autoscaling: 'floor', steps: '1; approve' },
      { replicas: 2, strategy },
    );
    await lab.image('app:2');
    const { world } = lab;
    world.change((deployment) => {
      setImage(deployment, 'app:3');
      deployment.spec.replicas = 1;
      deployment.metadata.annotations = { [`${P}autoscaling`]: 'floor' };
    });
    let left = effect;
    world.onEffect = () => {
      if (--left === 0) throw refusal(500);
    };
    await world.sync().catch(() => undefined);
    world.onEffect = () => undefined;
    const starts = world.replicaSets.flatMap(
      ({ metadata }) => metadata.annotations?.[`${P}size-at-start`] ?? [],
    );
    expect(new Set(starts), 'it is noted at any moment').toEqual(new Set(['2']));
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:3': 1 });
  });

  it('gives an aborted version no pod, however often an autoscaler raises the size [argo-rollouts#4973]', async () => {
    const lab = await PolicyLab.rolledOut(
      { steps: '20%; approve', 'on-failure': 'rollback', autoscaling: 'floor' },
      { replicas: 10 },
    );
    await lab.image('app:2');
    await lab.annotate('abort', 'jane');
    for (let raise = 1; raise <= 120; raise++) await lab.scale(10 + (raise % 5));
    expect(Object.keys(lab.sizes)).toEqual(['app:1']);
  });

  it.each(['raise', 'on'])('%j is no mode', async (value) => {
    const lab = await PolicyLab.rolledOut({ autoscaling: value }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toContain('is not one of hold, floor');
  });
});
