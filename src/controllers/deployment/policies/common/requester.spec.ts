import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import type { NameTrust } from './requester.js';
import { byWhom, shownAgain, shownName } from './requester.js';

describe('the name of a person in an annotation', () => {
  it.each<[string, NameTrust, string, string]>([
    ['alice', 'verified', 'alice', ' by alice'],
    ['alice', 'claimed', 'claimed by alice', ' (claimed by alice)'],
    [' ', 'claimed', 'claimed by nobody', ' (claimed by nobody)'],
  ])('%j that is %s is shown as %j', (name, trust, shown, behind) => {
    expect(shownName(name, trust)).toBe(shown);
    expect(byWhom(name, trust)).toBe(behind);
  });

  it('is marked once, also where another hand has stored it without the mark', () => {
    expect(shownAgain('claimed by alice', 'claimed')).toBe('claimed by alice');
    expect(shownAgain('alice', 'claimed')).toBe('claimed by alice');
    expect(shownAgain('rollkeeper', 'claimed'), 'what the controller did itself').toBe('rollkeeper');
    expect(shownAgain('alice', 'verified')).toBe('alice');
  });

  describe.each([
    ['does not vouch for it', false, ' (claimed by alice)'],
    ['vouches for it', true, ' by alice'],
  ])('with an API server that %s', (_what, isVerifying, behind) => {
    const waiting = async (): Promise<PolicyLab> => {
      const lab = await PolicyLab.rolledOut({ steps: '1; approve; 50%; approve' }, { replicas: 10 });
      lab.world.api.isVerifyingNames = isVerifying;
      await lab.image('app:2');
      return lab;
    };

    it('is shown so in the Event of an approval, and of one that nothing waited for', async () => {
      const lab = await waiting();
      await lab.annotate('approve', 'alice');
      expect(lab.eventsOf('RolloutApproved')).toEqual([
        expect.stringContaining(`Step 2 of 4 was approved${behind}`),
      ]);
      const other = await PolicyLab.rolledOut({ steps: '1' });
      other.world.api.isVerifyingNames = isVerifying;
      await other.annotate('approve', 'alice');
      expect(other.eventsOf('ApprovalNotNeeded')).toEqual([
        expect.stringContaining(`Nothing waited for the approval${behind}: it is dropped`),
      ]);
    });

    it('is shown so in the Event, the condition and the cause of an abort, and of the retry after it', async () => {
      const lab = await waiting();
      await lab.annotate('abort', 'alice');
      expect(lab.eventsOf('RolloutAborted')[0]).toContain(`The rollout was aborted${behind};`);
      expect(lab.condition()).toContain(`was aborted${behind}.`);
      expect(lab.deployment.metadata.annotations?.[`${P}failed`]).toContain(`aborted${behind}`);
      await lab.annotate('abort', 'alice');
      expect(lab.eventsOf('NothingToAbort')[0]).toContain(`Asked${behind} to go back, and`);
      await lab.annotate('retry', 'alice');
      expect(lab.eventsOf('RolloutRetried')[0]).toContain(`again, asked${behind}`);
    });
  });
});
