import { describe, expect, it } from 'vitest';
import { replacedOwners } from '../../../../machinery/kubernetes/index.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';

const SPREAD = { spread: 'after-rollout' };

/** The images of the ReplicaSets whose pods those of an image replace. */
function replacedBy(lab: PolicyLab, image: string): readonly string[] {
  const uids = replacedOwners(lab.replicaSet(image));
  return lab.world.replicaSets
    .filter(({ metadata }) => uids.includes(metadata.uid ?? ''))
    .map(({ spec }) => spec.template?.spec?.containers[0]?.image ?? '');
}

describe('the scheduler', () => {
  it('gets to know which pods a rollout takes away, with the first new pods [#105661, #98215, #121284, #122909]', async () => {
    const lab = await PolicyLab.rolledOut(SPREAD);
    await lab.image(BROKEN_IMAGE);
    expect(replacedBy(lab, BROKEN_IMAGE)).toEqual(['app:1']);
    expect(replacedBy(lab, 'app:1')).toEqual([]);
  });

  it('is not told of old pods that stay at a step, and is told once they go', async () => {
    const lab = await PolicyLab.rolledOut({ ...SPREAD, steps: '50%; approve' });
    await lab.image('app:2');
    expect(replacedBy(lab, 'app:2')).toEqual([]);
    lab.world.breaks = (image) => image === 'app:2';
    await lab.annotate('approve', 'jane');
    expect(replacedBy(lab, 'app:2')).toEqual(['app:1']);
  });

  it('is told of the failed version while the one before it comes back', async () => {
    const lab = await PolicyLab.rolledOut({ ...SPREAD, 'on-failure': 'rollback', 'fail-after': '1m' });
    await lab.image(BROKEN_IMAGE);
    await lab.pass(2 * 60_000);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(replacedBy(lab, 'app:1')).toEqual([BROKEN_IMAGE]);
  });

  it('is told nothing without the annotation', async () => {
    const lab = await PolicyLab.rolledOut({});
    await lab.image('app:2');
    expect(lab.replicaSet('app:2').metadata.annotations).not.toHaveProperty(`${P}replaces-pods-of`);
  });

  it('refuses another value', async () => {
    const lab = await PolicyLab.rolledOut({ spread: 'evenly' }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toContain('is not after-rollout');
  });
});
