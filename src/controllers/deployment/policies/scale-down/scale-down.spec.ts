import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { createDeploymentController } from '../../definition.js';

const NOTED = `${P}scale-down-of-owner`;
const KEEP = { 'scale-down': 'keep-spread' };
const WATCHING = { controller: createDeploymentController({ zones: true }) };

describe('a scale-down that keeps the spread', () => {
  it('is noted on the ReplicaSets that have pods, for their controller, and taken back', async () => {
    const lab = await PolicyLab.rolledOut(KEEP, { replicas: 3 }, WATCHING);
    expect(lab.replicaSet('app:1').metadata.annotations).toMatchObject({ [NOTED]: 'keep-spread' });
    await lab.image('app:2');
    expect(lab.replicaSet('app:1').metadata.annotations).not.toHaveProperty(NOTED);
    expect(lab.replicaSet('app:2').metadata.annotations).toMatchObject({ [NOTED]: 'keep-spread' });
    await lab.annotate('scale-down', undefined);
    expect(lab.replicaSet('app:2').metadata.annotations).not.toHaveProperty(NOTED);
  });

  it('says where it cannot be done, because nodes are not watched', async () => {
    const lab = await PolicyLab.rolledOut(KEEP, { replicas: 3 });
    expect(lab.condition('RolloutPolicy')).toBe(
      'False NodesNotWatched nodes are not watched: start the controller with --zones',
    );
  });

  it('has one value', async () => {
    const lab = await PolicyLab.rolledOut({ 'scale-down': 'newest' }, { replicas: 3 });
    expect(lab.condition('RolloutPolicy')).toContain('scale-down: "newest" is not keep-spread');
  });
});
