import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../../testing/policy-lab.js';
import { rolloutTrack } from './rollout-track.js';

describe('the steps of a rollout', () => {
  it('name who approved one, as claimed where the API server does not vouch for names', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '1; approve; 50%; approve' }, { replicas: 10 });
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    const { deployment, replicaSets } = lab.world;
    expect(deployment.metadata.annotations?.[`${P}approve`]).toBeUndefined();
    const approvers = (names: 'verified' | 'claimed') =>
      rolloutTrack(deployment, replicaSets, { names })?.steps.map(({ approvedBy }) => approvedBy);
    expect(approvers('claimed')).toEqual([undefined, 'claimed by alice', undefined, undefined]);
    expect(approvers('verified')).toEqual([undefined, 'alice', undefined, undefined]);
  });
});
