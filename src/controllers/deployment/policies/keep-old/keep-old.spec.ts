import { describe, expect, it } from 'vitest';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { createDeploymentController } from '../../definition.js';

const NOTED = `${P}keep-old-of-owner`;
const RULE = { 'keep-old': 'until "http :8080/sessions == 0", at most 24h, at most 3' };
const DRAINS = { controller: createDeploymentController({ drainSessions: true }) };
const rolledOut = (policies: Record<string, string>, shape: DeploymentShape): Promise<PolicyLab> =>
  PolicyLab.rolledOut(policies, shape, DRAINS);
const noteOf = (lab: PolicyLab, image: string): string | undefined =>
  lab.replicaSet(image).metadata.annotations?.[NOTED];

describe('old versions whose sessions drain', () => {
  it('have the rule on their ReplicaSets, and the version that is asked for has none', async () => {
    const lab = await rolledOut(RULE, { replicas: 3 });
    expect(noteOf(lab, 'app:1')).toBeUndefined();
    await lab.image('app:2');
    expect(noteOf(lab, 'app:1')).toBe('until "http :8080/sessions == 0", at most 1d, at most 3');
    expect(noteOf(lab, 'app:2')).toBeUndefined();
  });

  it('have it as soon as they lose their first pod, and new versions do not wait for them', async () => {
    const lab = await rolledOut({ ...RULE, steps: '1; approve' }, { replicas: 3 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 1 });
    expect(noteOf(lab, 'app:1')).toContain('sessions');
    await lab.annotate('approve', 'jane');
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('swap the rule when a rollout is undone: the version that comes back keeps its pods as ever', async () => {
    const lab = await rolledOut(RULE, { replicas: 3 });
    await lab.image('app:2');
    await lab.image('app:1');
    expect(noteOf(lab, 'app:1')).toBeUndefined();
    expect(noteOf(lab, 'app:2')).toContain('sessions');
  });

  it('have it no more when the annotation goes', async () => {
    const lab = await rolledOut(RULE, { replicas: 3 });
    await lab.image('app:2');
    await lab.annotate('keep-old', undefined);
    expect(noteOf(lab, 'app:1')).toBeUndefined();
  });

  it('are deleted as ever where no controller lets them drain, which the Deployment says', async () => {
    const lab = await PolicyLab.rolledOut(RULE, { replicas: 3 });
    await lab.image('app:2');
    expect(noteOf(lab, 'app:1')).toBeUndefined();
    expect(lab.condition('RolloutPolicy')).toBe(
      'False SessionsNotDrained pods of old versions are deleted, and do not drain: start the controller with --drain-sessions',
    );
  });

  it.each(['3', 'until idle', 'until "http :8080/x == 0", at most', 'until "http 10.0.0.1:80/x == 0"'])(
    'are deleted as ever if the rule is %j, which is reported',
    async (value) => {
      const lab = await rolledOut({ 'keep-old': value }, { replicas: 1 });
      await lab.image('app:2');
      expect(lab.condition('RolloutPolicy')).toContain('is not until "CONDITION"');
      expect(noteOf(lab, 'app:1')).toBeUndefined();
    },
  );

  it('cannot stay beside new ones under the strategy Recreate', async () => {
    const lab = await rolledOut(RULE, { replicas: 1, strategy: { type: 'Recreate' } });
    await lab.image('app:2');
    expect(lab.condition('RolloutPolicy')).toContain('needs spec.strategy.type RollingUpdate');
    expect(noteOf(lab, 'app:1')).toBeUndefined();
  });
});
