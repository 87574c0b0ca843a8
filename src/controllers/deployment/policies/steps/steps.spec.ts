import { describe, expect, it } from 'vitest';
import { Namespace } from '../../../../machinery/kubernetes/index.js';
import { setImage } from '../../../../testing/deployment-builder.js';
import { MINUTE_MS, P, PAST_DEADLINE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';

describe('steps', () => {
  const policies = { steps: '1; wait 5m; 20%; approve; 50%; wait 10m' };

  async function atFirst(): Promise<PolicyLab> {
    const lab = await PolicyLab.rolledOut(policies);
    await lab.image('app:2');
    return lab;
  }

  it('hold the new ReplicaSet at each size until what follows has happened', async () => {
    const lab = await atFirst();
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
    expect(lab.condition()).toBe('Unknown WaitingInStep Step 2 of 6 (wait 5m): until 2026-01-01T12:05:00Z');
    expect(lab.world.requeueAfterMs).toBe(5 * MINUTE_MS);
    await lab.pass(5 * MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
    expect(lab.condition()).toBe('Unknown WaitingForApproval Step 4 of 6 (approve): waits for an approval');
    expect(lab.world.requeueAfterMs).toBeUndefined();
    await lab.pass(24 * 60 * MINUTE_MS);
    expect(lab.sizes, 'a day later').toEqual({ 'app:1': 8, 'app:2': 2 });
    await lab.annotate('approve', 'alice');
    expect(lab.sizes).toEqual({ 'app:1': 5, 'app:2': 5 });
    expect(lab.annotation('approve')).toBeUndefined();
    expect(lab.replicaSet('app:2').metadata.annotations?.[`${P}step`]).toContain('"by":"alice"');
    await lab.pass(10 * MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('do not apply to the first version, nor to a way back to a good one', async () => {
    const lab = await atFirst();
    expect(lab.isGood('app:1')).toBe(true);
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });

  it('begin again with another template', async () => {
    const lab = await atFirst();
    await lab.pass(5 * MINUTE_MS);
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:3': 1 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
  });

  it('keep the share when the size changes', async () => {
    const lab = await atFirst();
    await lab.pass(5 * MINUTE_MS);
    await lab.scale(20);
    expect(lab.sizes).toEqual({ 'app:1': 16, 'app:2': 4 });
    await lab.scale(5);
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 1 });
    await lab.scale(10);
    expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
  });

  it.each([
    { from: 4, of: 'the version that is in them' },
    { from: 2, of: 'a version that another template has just left behind' },
  ])(
    'hold the size of $of also when more pods are asked for before its ReplicaSet has acted',
    async ({ from }) => {
      const lab = await PolicyLab.rolledOut({ steps: '1; approve; 50%' }, { replicas: from });
      for (const image of ['app:2', 'app:3']) {
        lab.world.change((deployment) => setImage(deployment, image));
        await lab.world.sync();
      }
      lab.world.change(({ spec }) => void (spec.replicas = 20));
      await lab.world.sync();
      expect(lab.sizes).toEqual({ 'app:1': 19, 'app:2': 1, 'app:3': 1 });
      await lab.rest();
      expect(lab.sizes).toEqual({ 'app:1': 19, 'app:3': 1 });
    },
  );

  it('are left by an abort, which counts as a failure of the template', async () => {
    const lab = await atFirst();
    await lab.annotate('abort', 'alice');
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toMatch(/^False RolledBack Revision 2 .* was aborted \(claimed by alice\)\. /);
    await lab.image('app:2');
    expect(lab.imageAsked, 'not tried again').toBe('app:1');
    await lab.annotate('retry', 'bob');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
  });

  it('are passed by on the way back to one of the revisions that fast-track names, and to no older one', async () => {
    for (const [settings, sizes] of [
      [{ 'fast-track': '1' }, { 'app:1': 10 }],
      [{ 'fast-track': '2' }, { 'app:1': 10 }],
      [{}, { 'app:1': 1, 'app:3': 9 }],
    ] as const) {
      const lab = await PolicyLab.rolledOut({ steps: '1; approve', 'bake-time': '1h', ...settings });
      await lab.annotate('steps', undefined);
      await lab.image('app:3');
      await lab.annotate('steps', '1; approve');
      await lab.image('app:1');
      expect(lab.sizes).toEqual(sizes);
    }
    const older = await PolicyLab.rolledOut({ 'bake-time': '1h', 'fast-track': '1' });
    for (const image of ['app:2', 'app:3']) await older.image(image);
    await older.annotate('steps', '1; approve');
    await older.image('app:1');
    expect(older.sizes).toEqual({ 'app:1': 1, 'app:3': 9 });
  });

  it('take one approval from a name of any length for one step', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '1; approve; 50%; approve' });
    await lab.image('app:2');
    await lab.annotate('approve', 'x'.repeat(100_000));
    expect(lab.sizes).toEqual({ 'app:1': 5, 'app:2': 5 });
    expect(lab.eventsOf('RolloutApproved')).toHaveLength(1);
    expect(lab.replicaSet('app:2').metadata.annotations?.[`${P}step`]?.length).toBeLessThan(1000);
  });

  it('drop an approval that nothing waits for', async () => {
    const lab = await atFirst();
    await lab.annotate('approve', 'alice');
    expect(lab.annotation('approve')).toBeUndefined();
    expect(lab.eventsOf('ApprovalNotNeeded')).toHaveLength(1);
    await lab.pass(5 * MINUTE_MS);
    expect(lab.condition()).toContain('WaitingForApproval');
  });

  it('work without any surge, and with nothing that may be missing', async () => {
    for (const rollingUpdate of [
      { maxSurge: 0, maxUnavailable: 1 },
      { maxSurge: 1, maxUnavailable: 0 },
    ]) {
      const lab = await PolicyLab.rolledOut(policies, { strategy: { type: 'RollingUpdate', rollingUpdate } });
      await lab.image('app:2');
      expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
      await lab.pass(5 * MINUTE_MS);
      expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
    }
  });

  it('stay while the rollout is paused, and go on from there', async () => {
    const lab = await atFirst();
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.pass(10 * MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
    expect(lab.condition()).toContain('DeploymentPaused');
    lab.world.change(({ spec }) => void (spec.paused = false));
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
  });

  it('take the new pods back within the limits when they are made smaller', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '80%; approve' });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 8 });
    await lab.annotate('steps', '10%; approve');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
  });

  it('end with a failure where failures are looked at: the broken step heals itself', async () => {
    const lab = await PolicyLab.rolledOut({ ...policies, 'on-failure': 'rollback', 'fail-after': '1m' });
    await lab.image(BROKEN_IMAGE);
    expect(lab.sizes[BROKEN_IMAGE]).toBe(1);
    await lab.pass(MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });
});

describe('windows and freezes', () => {
  it('hold the start of a rollout, and say when it goes on', async () => {
    // The world's day is a Thursday, noon in UTC.
    const lab = await PolicyLab.rolledOut({ window: 'Mon-Fri 14:00-16:00 Europe/Berlin' });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toBe(
      'Unknown RolloutHeld The rollout is held outside of its window; it begins at 2026-01-01T13:00:00Z',
    );
    expect(lab.world.requeueAfterMs).toBe(60 * MINUTE_MS);
    await lab.scale(6);
    expect(lab.sizes, 'never a scale').toEqual({ 'app:1': 6 });
    await lab.pass(60 * MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:2': 6 });
  });

  it('never hold a way back, nor a rollout that has begun, nor the first', async () => {
    const lab = await PolicyLab.rolledOut({});
    await lab.image('app:2');
    await lab.annotate('freeze', 'release party');
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toContain('held by a freeze: release party');
    await lab.annotate('freeze', undefined);
    expect(lab.sizes).toEqual({ 'app:3': 10 });
    const first = await PolicyLab.rolledOut({ freeze: 'always' });
    expect(first.sizes).toEqual({ 'app:1': 10 });
  });

  it('come from the Namespace as well, unless the Deployment has its own', async () => {
    const lab = await PolicyLab.rolledOut({});
    const metadata = { name: 'default', annotations: { [`${P}freeze`]: 'all of it' } };
    lab.world.api.seed(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
    await lab.image('app:2');
    expect(lab.condition()).toContain('all of it');
    await lab.annotate('freeze', '');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('hold a Recreate before anything old is stopped', async () => {
    const lab = await PolicyLab.rolledOut({ freeze: 'now' }, { strategy: { type: 'Recreate' } });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });
});

describe('an annotation that cannot be understood', () => {
  it('is named in a condition and an Event, once, and holds a new version until it is corrected', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '20%%', 'on-failure': 'rollback' });
    expect(lab.sizes, 'a first version begins').toEqual({ 'app:1': 10 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    const why =
      'rollkeeper.dev/steps: "20%%" step 1, "20%%", is neither a number of pods, a percentage, "weight 5%", "header NAME=VALUE", "cookie NAME=VALUE", "mirror 10%", "wait 5m", "approve", "check NAME" nor "experiment 10m: canary 2"';
    expect(lab.condition('RolloutPolicy')).toBe(`False InvalidAnnotation ${why}`);
    expect(lab.condition()).toBe(
      `Unknown RolloutHeld The rollout is held, because an annotation cannot be understood: ${why}`,
    );
    expect(lab.eventsOf('InvalidAnnotation')).toHaveLength(1);
    await lab.annotate('steps', '20%; approve');
    expect(lab.condition('RolloutPolicy')).toBe('none');
    expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
  });

  it.each<[string, string]>([
    ['bake-tme', '5m'],
    ['freze', 'no'],
    ['fail-after', 'soon'],
  ])('lets no held rollout begin when %s is added to a freeze', async (name, value) => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'rollback', freeze: 'inventory' });
    await lab.image('app:2');
    await lab.annotate(name, value);
    await lab.pass(3_600_000);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    await lab.annotate('freeze', undefined);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    await lab.annotate(name, undefined);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('stops a rollout in the middle of its steps, which an approval does not continue until it is corrected', async () => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'rollback', steps: '2; approve; 5; approve' });
    await lab.image('app:2');
    await lab.annotate('bake-tme', '5m');
    await lab.annotate('approve', 'anna');
    expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
    await lab.scale(20);
    expect(lab.sizes, 'a change of size is followed').toEqual({ 'app:1': 18, 'app:2': 2 });
    await lab.annotate('bake-tme', undefined);
    expect(lab.sizes).toEqual({ 'app:1': 15, 'app:2': 5 });
  });

  it('holds no way back to a version that was good, and no rollback of one that fails', async () => {
    const lab = await PolicyLab.rolledOut({
      'on-failure': 'rollback',
      'fail-after': '1m',
      steps: '2; approve',
    });
    await lab.image(BROKEN_IMAGE);
    await lab.annotate('bake-tme', '5m');
    await lab.pass(61_000);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    await lab.annotate('bake-tme', undefined);
    await lab.image('app:2');
    await lab.annotate('approve', 'anna');
    await lab.annotate('bake-tme', '5m');
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });

  it('marks no revision good while its bake time cannot be understood, and judges it afterwards', async () => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'rollback', 'bake-tme': '5m' });
    await lab.pass(600_000);
    expect(lab.isGood('app:1')).toBe(false);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    lab.world.change(({ metadata }) => {
      const { [`${P}bake-tme`]: _typo, ...others } = metadata.annotations ?? {};
      metadata.annotations = { ...others, [`${P}bake-time`]: '5m' };
    });
    await lab.rest();
    expect(lab.isGood('app:1')).toBe(true);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });
});

describe('the copies between a Deployment and its ReplicaSets', () => {
  const onSet = (lab: PolicyLab, image: string): string[] =>
    Object.keys(lab.replicaSet(image).metadata.annotations ?? {})
      .filter((name) => name.startsWith(P))
      .map((name) => name.slice(P.length))
      .sort();

  it('is the settings, for `kubectl rollout undo`, as long as they are set; and no state, no request and no freeze', async () => {
    const policies = { 'on-failure': 'rollback', freeze: 'now', 'bake-time': '1m', history: 'off' };
    const lab = await PolicyLab.rolledOut(policies);
    expect(onSet(lab, 'app:1')).toEqual(['bake-time', 'history', 'on-failure']);
    await lab.annotate('bake-time', undefined);
    expect(onSet(lab, 'app:1')).toEqual(['good-since', 'history', 'on-failure']);
    await lab.annotate('freeze', undefined);
    await lab.image('app:2');
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    expect(onSet(lab, 'app:2')).toEqual(['good-since', 'history', 'on-failure']);
    expect(onSet(lab, BROKEN_IMAGE)).toEqual(['history', 'on-failure']);
  });

  it('is not the state of a revision, which kubectl leaves on the Deployment when it goes back to it', async () => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'rollback' });
    await lab.annotate('good-since', '2026-01-01T00:00:00Z');
    await lab.image(BROKEN_IMAGE);
    expect(lab.isGood(BROKEN_IMAGE)).toBe(false);
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });

  it('leaves the policies as they are now when a template of before them comes back', async () => {
    const lab = await PolicyLab.rolledOut({});
    await lab.annotate('on-failure', 'rollback');
    await lab.image('app:2');
    await lab.annotate('steps', '1; approve');
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(lab.annotation('steps')).toBe('1; approve');
    expect(lab.annotation('on-failure')).toBe('rollback');
  });
});

describe('without annotations', () => {
  it('nothing is written that Kubernetes does not write', async () => {
    const lab = await PolicyLab.rolledOut({});
    await lab.image('app:2');
    const names = [lab.deployment, ...lab.world.replicaSets].flatMap(({ metadata }) =>
      Object.keys(metadata.annotations ?? {}),
    );
    expect(names.filter((name) => name.startsWith(P))).toEqual([]);
  });
});
