import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../testing/policy-lab.js';
import { foreseeRollback } from './foresight.js';

describe('A rollback that is foreseen', () => {
  it('leaves the annotations of policies as they are, and restores the others', async () => {
    const lab = await PolicyLab.rolledOut(
      { steps: '50%' },
      { annotations: { [`${P}steps`]: '50%', 'example.com/team': 'old' } },
    );
    lab.world.change(({ metadata }) => {
      metadata.annotations = {
        ...metadata.annotations,
        [`${P}steps`]: '20%',
        [`${P}freeze`]: 'holidays',
        'example.com/team': 'new',
      };
    });
    await lab.annotate('freeze', undefined);
    await lab.image('app:2');
    await lab.annotate('freeze', 'holidays');
    const { deployment } = lab;
    const foreseen = foreseeRollback({ deployment, replicaSets: lab.world.replicaSets }, 1n);
    expect(foreseen).toMatchObject({
      annotations: { [`${P}steps`]: '20%', [`${P}freeze`]: 'holidays', 'example.com/team': 'new' },
    });
    // No annotation that belongs to a ReplicaSet alone comes to the Deployment.
    const names = Object.keys('annotations' in foreseen ? foreseen.annotations : {});
    const own = Object.keys(deployment.metadata.annotations ?? {});
    expect(names.filter((name) => name.startsWith(P) && !own.includes(name))).toEqual([]);
  });
});
