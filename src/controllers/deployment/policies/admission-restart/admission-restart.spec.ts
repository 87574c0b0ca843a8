import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { createDeploymentController } from '../../definition.js';
import { readDrift, renderDrift } from './drift-record.js';

const WATCHED = { controller: createDeploymentController({ watchAdmission: true, restartOnConfig: true }) };
const DIGEST = 'admission-digest';
const DAY_MS = 86_400_000;

const rolledOut = (policies: Record<string, string>): Promise<PolicyLab> =>
  PolicyLab.rolledOut(policies, { replicas: 3 }, WATCHED);

/** The ReplicaSet of the version that is asked for. */
const hashOf = (lab: PolicyLab): string => {
  const [set] = lab.world.replicaSets.filter(({ spec }) => (spec.replicas ?? 1) > 0);
  return set?.metadata.labels?.['pod-template-hash'] ?? '';
};

/** The pods differ, as the controller that compares them notes it. */
const drifted = (lab: PolicyLab, digest: string, part = 'containers/proxy/image'): Promise<void> =>
  lab.annotate(
    'admission-drift',
    renderDrift({ template: hashOf(lab), digest, stale: 3, pods: 3, parts: [part] }),
  );

const digestOf = (lab: PolicyLab): string | undefined =>
  lab.deployment.spec.template.metadata?.annotations?.[P + DIGEST];
const uids = (lab: PolicyLab): readonly unknown[] =>
  lab.world.allPods.map(({ metadata }) => metadata.uid).toSorted();

describe('a restart on admission', () => {
  it('replaces the pods once, as any other rollout, and says why', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission' });
    const before = uids(lab);
    await drifted(lab, 'aaaa');
    expect(digestOf(lab)).toBe('aaaa');
    expect(uids(lab).filter((uid) => before.includes(uid))).toEqual([]);
    expect(lab.deployment.metadata.annotations?.[`${P}admission-drift`]).toBeUndefined();
    expect(lab.deployment.metadata.annotations?.['kubernetes.io/change-cause']).toBe(
      '3 of 3 pods differ from what admission gives new ones: containers/proxy/image',
    );
    expect(lab.eventsOf('AdmissionChanged')).toHaveLength(1);
  });

  it('waits for a window and for a freeze, as any new version does', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission', freeze: 'inventory' });
    const before = uids(lab);
    await drifted(lab, 'aaaa');
    expect(uids(lab)).toEqual(before);
    await lab.annotate('freeze', undefined);
    expect(uids(lab).filter((uid) => before.includes(uid))).toEqual([]);
  });

  it('does not come without the policy: the drift stays where it is shown', async () => {
    const lab = await rolledOut({ 'restart-on': 'config' });
    const before = uids(lab);
    await drifted(lab, 'aaaa');
    expect(uids(lab)).toEqual(before);
    expect(readDrift(lab.deployment.metadata.annotations)?.stale).toBe(3);
  });

  it('does not come for pods of a template that is replaced anyway', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission', steps: '1; approve' });
    const template = hashOf(lab);
    await lab.image('app:2');
    await lab.annotate(
      'admission-drift',
      renderDrift({ template, digest: 'aaaa', stale: 3, pods: 3, parts: ['containers/proxy/image'] }),
    );
    expect(digestOf(lab)).toBeUndefined();
  });

  it('comes for the same parts once a day at most, so that a webhook of ever new answers restarts nothing for ever', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission' });
    await drifted(lab, 'aaaa');
    await drifted(lab, 'bbbb');
    expect(digestOf(lab)).toBe('aaaa');
    await lab.pass(DAY_MS);
    expect(digestOf(lab)).toBe('bbbb');
    await drifted(lab, 'cccc', 'initContainers/init/image');
    expect(digestOf(lab)).toBe('cccc');
  });

  it('comes three times a day at most, so that a webhook of ever new names restarts nothing for ever', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission' });
    for (const digest of ['aaaa', 'bbbb', 'cccc', 'dddd'])
      await drifted(lab, digest, `containers/side-${digest}/image`);
    expect(digestOf(lab)).toBe('cccc');
    await lab.pass(DAY_MS);
    expect(digestOf(lab)).toBe('dddd');
  });

  it('comes once a day for each of two answers in turn', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission' });
    for (const [digest, part] of [
      ['aaaa', 'a'],
      ['bbbb', 'b'],
      ['cccc', 'a'],
    ] as const)
      await drifted(lab, digest, `containers/${part}/image`);
    expect(digestOf(lab)).toBe('bbbb');
  });

  it('comes for the same answer again, if pods were started without it in between', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission' });
    await drifted(lab, 'aaaa');
    lab.clock.move(DAY_MS);
    await drifted(lab, 'aaaa');
    expect(digestOf(lab)).toBe('aaaa-2');
  });

  it.each(['{', '{"template":"x"}', '{"template":"x","digest":"../..","stale":1,"pods":1,"parts":[]}'])(
    'does not come for a record that cannot be read: %j',
    async (record) => {
      const lab = await rolledOut({ 'restart-on': 'admission' });
      await lab.annotate('admission-drift', record);
      expect(digestOf(lab)).toBeUndefined();
    },
  );

  it('is said not to come where nothing compares pods', async () => {
    const lab = await PolicyLab.rolledOut({ 'restart-on': 'admission' }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toBe(
      'False AdmissionNotWatched restart-on has admission, and nothing compares pods with it: start the controller with --watch-admission',
    );
  });

  it('goes together with restarts on configuration, whose list is read as before', async () => {
    const lab = await rolledOut({ 'restart-on': 'admission, configmap/a' });
    expect(lab.condition('RolloutPolicy')).toBe('none');
    await lab.annotate('restart-on', 'admission, nonsense');
    expect(lab.condition('RolloutPolicy')).toContain('"nonsense"');
  });
});
