import { describe, expect, it } from 'vitest';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';

const LABELS = { 'canary-labels': 'role=canary, tier=new', 'stable-labels': 'role=stable' };
const STEPS = { ...LABELS, steps: '1; approve' };

const marksOf = (lab: PolicyLab, image: string): unknown => {
  const noted = lab.replicaSet(image).metadata.annotations?.[`${P}pod-marks`];
  return noted === undefined ? undefined : (JSON.parse(noted) as { labels: unknown }).labels;
};

describe('labels of the version', () => {
  it('are those of the stable version for the first one, which replaces none', async () => {
    const lab = await PolicyLab.rolledOut(LABELS, { replicas: 3 });
    expect(marksOf(lab, 'app:1')).toEqual({ role: 'stable' });
  });

  it('differ while a version is new, and are the stable ones when its rollout is over', async () => {
    const lab = await PolicyLab.rolledOut(STEPS, { replicas: 3 });
    await lab.image('app:2');
    expect(marksOf(lab, 'app:1')).toEqual({ role: 'stable' });
    expect(marksOf(lab, 'app:2')).toEqual({ role: 'canary', tier: 'new' });
    await lab.annotate('approve', 'jane');
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(marksOf(lab, 'app:2')).toEqual({ role: 'stable', tier: null });
  });

  it('start no pod: the templates and their hashes stay as they are', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 3 });
    const before = lab.replicaSet('app:1');
    const pods = lab.world.allPods.map(({ metadata }) => metadata.uid);
    await lab.annotate('stable-labels', 'role=stable');
    const after = lab.replicaSet('app:1');
    expect(after.spec.template).toEqual(before.spec.template);
    expect(after.metadata.name).toBe(before.metadata.name);
    expect(lab.world.allPods.map(({ metadata }) => metadata.uid)).toEqual(pods);
  });

  it('are taken from the pods when the annotations go', async () => {
    const lab = await PolicyLab.rolledOut(LABELS, { replicas: 3 });
    await lab.annotate('stable-labels', undefined);
    await lab.annotate('canary-labels', undefined);
    expect(marksOf(lab, 'app:1')).toEqual({ role: null });
  });

  it('are none without the annotations', async () => {
    expect(marksOf(await PolicyLab.rolledOut({}, { replicas: 3 }), 'app:1')).toBeUndefined();
  });

  it('cannot be what the selector looks at', async () => {
    const lab = await PolicyLab.rolledOut({ 'canary-labels': 'app=canary' }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toBe(
      'False LabelOfSelector canary-labels and stable-labels have app, which stays as it is: the selector of the Deployment looks at it',
    );
  });

  it.each([
    ['canary-labels', 'role', 'is not KEY=VALUE'],
    ['canary-labels', 'role=a=b', 'is not KEY=VALUE'],
    ['canary-labels', 'bad key=x', 'has bad key=x'],
    ['stable-labels', 'role=no value', 'has role=no value'],
    ['canary-labels', 'pod-template-hash=1', 'belongs to Kubernetes or Rollkeeper'],
    ['canary-annotations', 'node.kubernetes.io/x=1', 'belongs to Kubernetes or Rollkeeper'],
    ['stable-annotations', 'rollkeeper.dev/x=1', 'belongs to Kubernetes or Rollkeeper'],
  ])('%s: %j is refused', async (setting, value, why) => {
    const lab = await PolicyLab.rolledOut({ [setting]: value }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toContain(why);
  });
});
