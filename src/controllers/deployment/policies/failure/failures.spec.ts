import { describe, expect, it } from 'vitest';
import { Pod } from '../../../../machinery/kubernetes/index.js';
import { setImage } from '../../../../testing/deployment-builder.js';
import { MINUTE_MS, P, PAST_DEADLINE_MS, PolicyLab, imageOf } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';

function waiting(pod: Pod, reason: string): Pod {
  const state = { waiting: { reason, message: 'says the kubelet' } };
  const container = { name: 'web', ready: false, restartCount: 0, image: '', imageID: '', state };
  return { ...pod, status: { ...pod.status, containerStatuses: [container] } };
}

describe('on-failure: rollback', () => {
  const policies = { 'on-failure': 'rollback' };

  it('puts the template of the last good revision back once the deadline has passed', async () => {
    const lab = await PolicyLab.rolledOut(policies);
    expect(lab.isGood('app:1')).toBe(true);
    await lab.image(BROKEN_IMAGE);
    expect(lab.sizes).toEqual({ 'app:1': 8, [BROKEN_IMAGE]: 5 });
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toMatch(
      /^False RolledBack Revision 2 \(ReplicaSet "web-\w+"\) failed: its progress deadline passed\. Rolled back to the pods of revision 1 \(ReplicaSet "web-\w+"\)\.$/,
    );
    expect(lab.annotation('on-failure')).toBe('rollback');
    expect(lab.eventsOf('RolloutFailed', 'RolledBack')).toHaveLength(2);
  });

  it('tells of the failure, by the reason that kubectl ends by, before it puts anything back', async () => {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    lab.clock.move(PAST_DEADLINE_MS);
    await lab.world.sync();
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.condition()).toMatch(/^False ProgressDeadlineExceeded Revision 2 .* failed: /);
    await lab.world.sync();
    expect(lab.imageAsked).toBe('app:1');
  });

  it('does not try a failed template again when it is applied again, until a person says retry', async () => {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    const pods = lab.world.allPods.map(({ metadata }) => metadata.uid);
    await lab.image(BROKEN_IMAGE);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.world.allPods.map(({ metadata }) => metadata.uid)).toEqual(pods);
    await lab.annotate('retry', 'alice');
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.sizes).toEqual({ 'app:1': 8, [BROKEN_IMAGE]: 5 });
    expect(lab.annotation('retry')).toBeUndefined();
    expect(lab.eventsOf('RolloutRetried').at(-1)).toContain('alice');
  });

  it('does not put the failed template in the place of a newer one by a retry', async () => {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    lab.world.change((deployment) => {
      setImage(deployment, 'app:3');
      deployment.metadata.annotations = { ...deployment.metadata.annotations, [`${P}retry`]: 'alice' };
    });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:3': 10 });
    expect(lab.annotation('failed')).toBeUndefined();
  });

  it('goes back to the last that was good, not merely to the one before, and keeps the size of now', async () => {
    const lab = await PolicyLab.rolledOut({ ...policies, 'bake-time': '10m' });
    await lab.pass(11 * MINUTE_MS);
    expect(lab.isGood('app:1')).toBe(true);
    await lab.image('app:2');
    await lab.pass(5 * MINUTE_MS);
    expect(lab.isGood('app:2')).toBe(false);
    await lab.image(BROKEN_IMAGE);
    await lab.scale(6);
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 6 });
    expect(lab.deployment.spec.replicas).toBe(6);
  });

  it('stops when what it went back to fails as well', async () => {
    const lab = await PolicyLab.rolledOut({ ...policies, 'fail-after': '1m' });
    await lab.image('app:2');
    await lab.image(BROKEN_IMAGE);
    lab.world.breaks = (image) => image !== 'app:1';
    lab.clock.move(MINUTE_MS);
    await lab.world.sync();
    await lab.world.sync();
    expect(lab.imageAsked).toBe('app:2');
    for (const pod of lab.world.podsOf(lab.replicaSet('app:2')))
      await lab.world.api.delete(Pod, pod.metadata);
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.imageAsked, 'although app:1 is good as well').toBe('app:2');
    expect(lab.eventsOf('RollbackFailed')).toHaveLength(1);
    expect(lab.eventsOf('RolledBack')).toHaveLength(1);
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });

  it('leaves alone what nothing good is known before', async () => {
    const lab = await PolicyLab.rolledOut(policies, { image: BROKEN_IMAGE });
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.eventsOf('NothingToRollBackTo')).toHaveLength(1);
  });

  it('does not go back to a version that never had a pod', async () => {
    const lab = await PolicyLab.rolledOut(policies, { replicas: 0 });
    lab.world.change((deployment) => {
      setImage(deployment, BROKEN_IMAGE);
      deployment.spec.replicas = 3;
    });
    await lab.rest();
    expect(lab.isGood('app:1')).toBe(false);
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.eventsOf('NothingToRollBackTo')).toHaveLength(1);
  });

  it('rolls out another template after a failure as ever', async () => {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:3': 10 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.isGood('app:3')).toBe(true);
  });

  it('comes sooner by fail-after, for more pods than max-failed-pods alone', async () => {
    const lab = await PolicyLab.rolledOut({ ...policies, 'fail-after': '2m', 'max-failed-pods': '4' });
    await lab.image(BROKEN_IMAGE);
    expect(lab.world.requeueAfterMs).toBe(2 * MINUTE_MS);
    await lab.pass(MINUTE_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    await lab.pass(MINUTE_MS);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.condition()).toContain('5 of 5 new pods not available 2m after their creation');
    const lenient = await PolicyLab.rolledOut({ ...policies, 'fail-after': '2m', 'max-failed-pods': '50%' });
    await lenient.image(BROKEN_IMAGE);
    await lenient.pass(3 * MINUTE_MS);
    expect(lenient.imageAsked).toBe(BROKEN_IMAGE);
  });

  it('does not go back for a full cluster, unless asked', async () => {
    for (const [causes, image] of [
      [undefined, BROKEN_IMAGE],
      ['unschedulable', 'app:1'],
      ['all', 'app:1'],
    ] as const) {
      const lab = await PolicyLab.rolledOut({ ...policies, ...(causes && { 'failure-causes': causes }) });
      await lab.image(BROKEN_IMAGE);
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
      for (const pod of lab.world.podsOf(lab.replicaSet(BROKEN_IMAGE)))
        lab.world.api.seed<Pod>(Pod, { ...pod, status: { ...pod.status, conditions } });
      await lab.pass(PAST_DEADLINE_MS);
      expect(lab.imageAsked, causes).toBe(image);
      expect(lab.eventsOf('RollbackWithheld')).toHaveLength(causes ? 0 : 1);
    }
  });

  it('names the cause in the words of the kubelet', async () => {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    for (const pod of lab.world.podsOf(lab.replicaSet(BROKEN_IMAGE)))
      lab.world.api.seed<Pod>(Pod, waiting(pod, 'ImagePullBackOff'));
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.condition()).toContain('5 of 5 new pods: ImagePullBackOff (says the kubelet)');
  });

  it('watches a complete rollout for its bake time: pods lost beyond the floor, restarts beyond the bound', async () => {
    const baking = { ...policies, 'bake-time': '10m', 'max-restarts': '3' };
    const started = async (): Promise<PolicyLab> => {
      const lab = await PolicyLab.rolledOut(baking);
      await lab.pass(11 * MINUTE_MS);
      await lab.image('app:2');
      await lab.pass(MINUTE_MS);
      expect(lab.sizes).toEqual({ 'app:2': 10 });
      return lab;
    };
    const damage = async (lab: PolicyLab, count: number, harm: (pod: Pod) => Pod): Promise<void> => {
      const pods = lab.world.podsOf(lab.replicaSet('app:2')).slice(0, count);
      for (const pod of pods) lab.world.api.seed<Pod>(Pod, harm(pod));
      await lab.world.sync();
      await lab.world.sync();
    };
    const crashed = (pod: Pod): Pod =>
      waiting({ ...pod, status: { ...pod.status, conditions: [] } }, 'CrashLoopBackOff');
    const two = await started();
    await damage(two, 2, crashed);
    expect(two.imageAsked, 'the floor is 8').toBe('app:2');
    const three = await started();
    await damage(three, 3, crashed);
    expect(three.imageAsked).toBe('app:1');
    const restarted = (pod: Pod): Pod => {
      const status = { name: 'web', ready: true, restartCount: 2, image: '', imageID: '' };
      return { ...pod, status: { ...pod.status, containerStatuses: [status] } };
    };
    const restarting = await started();
    await damage(restarting, 2, restarted);
    expect(restarting.imageAsked).toBe('app:1');
    const over = await started();
    await over.pass(11 * MINUTE_MS);
    await damage(over, 3, crashed);
    expect(over.imageAsked, 'after its bake time it is good').toBe('app:2');
  });

  it('keeps the good revision while the new one bakes, even without a history', async () => {
    const lab = await PolicyLab.rolledOut(
      { ...policies, 'bake-time': '10m' },
      { spec: { revisionHistoryLimit: 0 } },
    );
    await lab.pass(11 * MINUTE_MS);
    await lab.image('app:2');
    await lab.pass(5 * MINUTE_MS);
    expect(lab.world.replicaSets.map(imageOf).sort()).toEqual(['app:1', 'app:2']);
    await lab.pass(6 * MINUTE_MS);
    expect(lab.world.replicaSets.map(imageOf)).toEqual(['app:2']);
  });

  it('works without a progress deadline, by fail-after', async () => {
    const lab = await PolicyLab.rolledOut(
      { ...policies, 'fail-after': '1m', 'bake-time': '5m' },
      { spec: { progressDeadlineSeconds: undefined } },
    );
    await lab.pass(6 * MINUTE_MS);
    expect(lab.isGood('app:1')).toBe(true);
    await lab.image(BROKEN_IMAGE);
    await lab.pass(MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });
});

describe('on-failure: hold', () => {
  const policies = { 'on-failure': 'hold', 'fail-after': '1m' };

  async function held(): Promise<PolicyLab> {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    await lab.pass(MINUTE_MS);
    return lab;
  }

  it('leaves the template as it is, and runs the good revision', async () => {
    const lab = await held();
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toMatch(/^False ProgressDeadlineExceeded RolledBack: Revision 2 /);
    expect(lab.condition()).toContain('Revision 1 (ReplicaSet');
    expect(lab.deployment.status?.updatedReplicas ?? 0).toBe(0);
    expect(lab.deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  });

  it('follows the size meanwhile, and rests', async () => {
    const lab = await held();
    await lab.scale(4);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    const before = lab.world.api.changes;
    await lab.world.sync();
    expect(lab.world.api.changes).toBe(before);
    expect(lab.world.requeueAfterMs).toBeUndefined();
  });

  it('gives what failed no pod more when the size grows on the way back', async () => {
    for (const mode of ['hold', 'rollback']) {
      const strategy = { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } };
      const lab = await PolicyLab.rolledOut({ ...policies, 'on-failure': mode }, { strategy, replicas: 4 });
      await lab.image(BROKEN_IMAGE);
      expect(lab.sizes).toEqual({ 'app:1': 4, [BROKEN_IMAGE]: 4 });
      lab.clock.move(MINUTE_MS);
      await lab.world.sync();
      lab.world.change(({ spec }) => void (spec.replicas = 8));
      await lab.world.sync();
      await lab.world.sync();
      expect(lab.sizes[BROKEN_IMAGE] ?? 0, mode).toBeLessThanOrEqual(4);
      await lab.rest();
      expect(lab.sizes).toEqual({ 'app:1': 8 });
    }
  });

  it('goes on with another template, or when a person says retry', async () => {
    const lab = await held();
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    const again = await held();
    await again.annotate('retry', 'alice');
    expect(again.sizes).toEqual({ 'app:1': 8, [BROKEN_IMAGE]: 5 });
    await again.pass(MINUTE_MS);
    expect(again.sizes).toEqual({ 'app:1': 10 });
  });
});

describe('an abort', () => {
  it('does nothing to a good revision that runs alone, and says so', async () => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'rollback', 'bake-time': '2s' });
    await lab.pass(5000);
    await lab.image('app:2');
    await lab.pass(5000);
    expect(lab.isGood('app:2')).toBe(true);
    await lab.annotate('abort', 'anna');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(lab.imageAsked).toBe('app:2');
    expect(lab.eventsOf('NothingToAbort')[0]).toContain('no rollout is under way');
  });
});
