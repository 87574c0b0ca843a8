import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';

const NOTED = `${P}failed-pods-of-owner`;

describe('a limit of failed pods', () => {
  it('is noted on every ReplicaSet, for its controller, and taken back', async () => {
    const lab = await PolicyLab.rolledOut({ 'failed-pods': 'keep 3, 60m' }, { replicas: 3 });
    await lab.image('app:2');
    for (const image of ['app:1', 'app:2'])
      expect(lab.replicaSet(image).metadata.annotations).toMatchObject({ [NOTED]: 'keep 3, 1h' });
    await lab.annotate('failed-pods', undefined);
    for (const image of ['app:1', 'app:2'])
      expect(lab.replicaSet(image).metadata.annotations).not.toHaveProperty(NOTED);
  });

  it.each(['3', 'keep', 'keep 3 1h', 'keep 3, soon', 'keep -1', 'drop 3'])(
    'is reported if it is %j, and deletes nothing',
    async (value) => {
      const lab = await PolicyLab.rolledOut({ 'failed-pods': value }, { replicas: 1 });
      expect(lab.condition('RolloutPolicy')).toContain(`failed-pods: "${value}" is not keep N`);
      expect(lab.replicaSet('app:1').metadata.annotations).not.toHaveProperty(NOTED);
    },
  );
});
