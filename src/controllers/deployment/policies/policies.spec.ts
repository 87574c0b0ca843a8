import { describe, expect, it } from 'vitest';
import type { Deployment, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { NAMESPACES, PODS } from '../../../machinery/kubernetes/index.js';
import { SeededRandom, toRfc3339 } from '../../../machinery/clock/index.js';
import type { DeploymentShape } from '../../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../../testing/deployment-builder.js';
import { JudgedRollout } from '../../../testing/judged-rollout.js';
import { BROKEN_IMAGE, WORLD_NOW_MS } from '../../../testing/rollout-world.js';
import { MovedClock } from '../../../testing/moved-clock.js';

const P = 'rollkeeper.dev/';
const MINUTE_MS = 60_000;

/** A Deployment that has rolled out `app:1`, under these policies. */
class Lab {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly world: JudgedRollout;

  private constructor(policies: Record<string, string>, shape: DeploymentShape) {
    const annotations = Object.fromEntries(
      Object.entries(policies).map(([name, value]) => [P + name, value]),
    );
    this.world = new JudgedRollout({
      deployment: aDeployment({ annotations, ...shape }),
      random: new SeededRandom(1),
      clock: this.clock,
    });
  }

  static async rolledOut(policies: Record<string, string>, shape: DeploymentShape = {}): Promise<Lab> {
    const lab = new Lab(policies, shape);
    await lab.rest();
    return lab;
  }

  get deployment(): Deployment {
    return this.world.deployment;
  }

  /** All do what there is to do, until nothing changes. */
  async rest(): Promise<void> {
    for (let before = -1; before !== this.world.api.changes;) {
      before = this.world.api.changes;
      await this.world.sync();
      await this.world.settle();
    }
  }

  /** Time passes, and the pass comes that was asked for. */
  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    await this.rest();
  }

  async image(image: string): Promise<void> {
    this.world.change((deployment) => setImage(deployment, image));
    await this.rest();
  }

  async annotate(name: string, value: string | undefined): Promise<void> {
    this.world.change(({ metadata }) => {
      const { [P + name]: _before, ...others } = metadata.annotations ?? {};
      metadata.annotations = value === undefined ? others : { ...others, [P + name]: value };
    });
    await this.rest();
  }

  async scale(replicas: number): Promise<void> {
    this.world.change(({ spec }) => void (spec.replicas = replicas));
    await this.rest();
  }

  /** By image, those with pods. */
  get sizes(): Record<string, number> {
    const active = this.world.replicaSets.filter(({ spec }) => (spec.replicas ?? 1) > 0);
    return Object.fromEntries(active.map((set) => [imageOf(set), set.spec.replicas ?? 1]));
  }

  get imageAsked(): string | undefined {
    return this.deployment.spec.template.spec?.containers[0]?.image;
  }

  condition(type = 'Progressing'): string {
    const found = this.deployment.status?.conditions?.find((condition) => condition.type === type);
    return found ? `${found.status} ${found.reason} ${found.message}` : 'none';
  }

  annotation(name: string): string | undefined {
    return this.deployment.metadata.annotations?.[P + name];
  }

  replicaSet(image: string): ReplicaSet {
    const found = this.world.replicaSets.find((set) => imageOf(set) === image);
    if (!found) throw new Error(`no ReplicaSet of ${image}`);
    return found;
  }

  isGood(image: string): boolean {
    return this.replicaSet(image).metadata.annotations?.[`${P}good-since`] !== undefined;
  }

  eventsOf(...reasons: string[]): string[] {
    return this.world.events.filter((event) => reasons.includes(event.split(' ')[1] ?? ''));
  }
}

function imageOf({ spec }: ReplicaSet): string {
  return spec.template?.spec?.containers[0]?.image ?? '';
}

function waiting(pod: Pod, reason: string): Pod {
  const state = { waiting: { reason, message: 'says the kubelet' } };
  const container = { name: 'web', ready: false, restartCount: 0, image: '', imageID: '', state };
  return { ...pod, status: { ...pod.status, containerStatuses: [container] } };
}

const PAST_DEADLINE_MS = 601_000;

describe('on-failure: rollback', () => {
  const policies = { 'on-failure': 'rollback' };

  it('puts the template of the last good revision back once the deadline has passed', async () => {
    const lab = await Lab.rolledOut(policies);
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
    const lab = await Lab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    lab.clock.move(PAST_DEADLINE_MS);
    await lab.world.sync();
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.condition()).toMatch(/^False ProgressDeadlineExceeded Revision 2 .* failed: /);
    await lab.world.sync();
    expect(lab.imageAsked).toBe('app:1');
  });

  it('does not try a failed template again when it is applied again, until a person says retry', async () => {
    const lab = await Lab.rolledOut(policies);
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
    const lab = await Lab.rolledOut(policies);
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
    const lab = await Lab.rolledOut({ ...policies, 'bake-time': '10m' });
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
    const lab = await Lab.rolledOut({ ...policies, 'fail-after': '1m' });
    await lab.image('app:2');
    await lab.image(BROKEN_IMAGE);
    lab.world.breaks = (image) => image !== 'app:1';
    lab.clock.move(MINUTE_MS);
    await lab.world.sync();
    await lab.world.sync();
    expect(lab.imageAsked).toBe('app:2');
    for (const pod of lab.world.podsOf(lab.replicaSet('app:2')))
      await lab.world.api.delete(PODS, pod.metadata);
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
    const lab = await Lab.rolledOut(policies, { image: BROKEN_IMAGE });
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.eventsOf('NothingToRollBackTo')).toHaveLength(1);
  });

  it('rolls out another template after a failure as ever', async () => {
    const lab = await Lab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:3': 10 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.isGood('app:3')).toBe(true);
  });

  it('comes sooner by fail-after, for more pods than max-failed-pods alone', async () => {
    const lab = await Lab.rolledOut({ ...policies, 'fail-after': '2m', 'max-failed-pods': '4' });
    await lab.image(BROKEN_IMAGE);
    expect(lab.world.requeueAfterMs).toBe(2 * MINUTE_MS);
    await lab.pass(MINUTE_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    await lab.pass(MINUTE_MS);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.condition()).toContain('5 of 5 new pods not available 2m after their creation');
    const lenient = await Lab.rolledOut({ ...policies, 'fail-after': '2m', 'max-failed-pods': '50%' });
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
      const lab = await Lab.rolledOut({ ...policies, ...(causes && { 'failure-causes': causes }) });
      await lab.image(BROKEN_IMAGE);
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
      for (const pod of lab.world.podsOf(lab.replicaSet(BROKEN_IMAGE)))
        lab.world.api.seed<Pod>(PODS, { ...pod, status: { ...pod.status, conditions } });
      await lab.pass(PAST_DEADLINE_MS);
      expect(lab.imageAsked, causes).toBe(image);
      expect(lab.eventsOf('RollbackWithheld')).toHaveLength(causes ? 0 : 1);
    }
  });

  it('names the cause in the words of the kubelet', async () => {
    const lab = await Lab.rolledOut(policies);
    await lab.image(BROKEN_IMAGE);
    for (const pod of lab.world.podsOf(lab.replicaSet(BROKEN_IMAGE)))
      lab.world.api.seed<Pod>(PODS, waiting(pod, 'ImagePullBackOff'));
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.condition()).toContain('5 of 5 new pods: ImagePullBackOff (says the kubelet)');
  });

  it('watches a complete rollout for its bake time: pods lost beyond the floor, restarts beyond the bound', async () => {
    const baking = { ...policies, 'bake-time': '10m', 'max-restarts': '3' };
    const started = async (): Promise<Lab> => {
      const lab = await Lab.rolledOut(baking);
      await lab.pass(11 * MINUTE_MS);
      await lab.image('app:2');
      await lab.pass(MINUTE_MS);
      expect(lab.sizes).toEqual({ 'app:2': 10 });
      return lab;
    };
    const damage = async (lab: Lab, count: number, harm: (pod: Pod) => Pod): Promise<void> => {
      const pods = lab.world.podsOf(lab.replicaSet('app:2')).slice(0, count);
      for (const pod of pods) lab.world.api.seed<Pod>(PODS, harm(pod));
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
    const lab = await Lab.rolledOut(
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
    const lab = await Lab.rolledOut(
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

  async function held(): Promise<Lab> {
    const lab = await Lab.rolledOut(policies);
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

describe('steps', () => {
  const policies = { steps: '1; wait 5m; 20%; approve; 50%; wait 10m' };

  async function atFirst(): Promise<Lab> {
    const lab = await Lab.rolledOut(policies);
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

  it('begin anew with another template', async () => {
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

  it('are left by an abort, which counts as a failure of the template', async () => {
    const lab = await atFirst();
    await lab.annotate('abort', 'alice');
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toMatch(/^False RolledBack Revision 2 .* was aborted by alice\. /);
    await lab.image('app:2');
    expect(lab.imageAsked, 'not tried again').toBe('app:1');
    await lab.annotate('retry', 'bob');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
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
      const lab = await Lab.rolledOut(policies, { strategy: { type: 'RollingUpdate', rollingUpdate } });
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
    const lab = await Lab.rolledOut({ steps: '80%; approve' });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 8 });
    await lab.annotate('steps', '10%; approve');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
  });

  it('end with a failure where failures are looked at: the broken step heals itself', async () => {
    const lab = await Lab.rolledOut({ ...policies, 'on-failure': 'rollback', 'fail-after': '1m' });
    await lab.image(BROKEN_IMAGE);
    expect(lab.sizes[BROKEN_IMAGE]).toBe(1);
    await lab.pass(MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });
});

describe('windows and freezes', () => {
  it('hold the start of a rollout, and say when it goes on', async () => {
    // The world's day is a Thursday, noon in UTC.
    const lab = await Lab.rolledOut({ window: 'Mon-Fri 14:00-16:00 Europe/Berlin' });
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
    const lab = await Lab.rolledOut({});
    await lab.image('app:2');
    await lab.annotate('freeze', 'release party');
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toContain('held by a freeze: release party');
    await lab.annotate('freeze', undefined);
    expect(lab.sizes).toEqual({ 'app:3': 10 });
    const first = await Lab.rolledOut({ freeze: 'always' });
    expect(first.sizes).toEqual({ 'app:1': 10 });
  });

  it('come from the Namespace as well, unless the Deployment has its own', async () => {
    const lab = await Lab.rolledOut({});
    const metadata = { name: 'default', annotations: { [`${P}freeze`]: 'all of it' } };
    lab.world.api.seed(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    await lab.image('app:2');
    expect(lab.condition()).toContain('all of it');
    await lab.annotate('freeze', '');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('hold a Recreate before anything old is stopped', async () => {
    const lab = await Lab.rolledOut({ freeze: 'now' }, { strategy: { type: 'Recreate' } });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });
});

describe('an annotation that cannot be understood', () => {
  it('is named in a condition and an Event, once, and Kubernetes’ own rollout goes on', async () => {
    const lab = await Lab.rolledOut({ steps: '20%%', 'on-failure': 'rollback' });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(lab.condition('RolloutPolicy')).toBe(
      'False InvalidAnnotation rollkeeper.dev/steps: "20%%" step 1, "20%%", is neither a number of pods, a percentage, "wait 5m" nor "approve"',
    );
    expect(lab.eventsOf('InvalidAnnotation')).toHaveLength(1);
    await lab.annotate('steps', '20%; approve');
    expect(lab.condition('RolloutPolicy')).toBe('none');
  });
});

describe('what is copied between a Deployment and its ReplicaSets', () => {
  const onSet = (lab: Lab, image: string): string[] =>
    Object.keys(lab.replicaSet(image).metadata.annotations ?? {})
      .filter((name) => name.startsWith(P))
      .map((name) => name.slice(P.length))
      .sort();

  it('is the settings, for `kubectl rollout undo`, as long as they are set; and no state, no request and no freeze', async () => {
    const lab = await Lab.rolledOut({ 'on-failure': 'rollback', freeze: 'now', 'bake-time': '1m' });
    expect(onSet(lab, 'app:1')).toEqual(['bake-time', 'on-failure']);
    await lab.annotate('bake-time', undefined);
    expect(onSet(lab, 'app:1')).toEqual(['good-since', 'on-failure']);
    await lab.annotate('freeze', undefined);
    await lab.image('app:2');
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    expect(onSet(lab, 'app:2')).toEqual(['good-since', 'on-failure']);
    expect(onSet(lab, BROKEN_IMAGE)).toEqual(['on-failure']);
  });

  it('is not the state of a revision, which kubectl leaves on the Deployment when it goes back to it', async () => {
    const lab = await Lab.rolledOut({ 'on-failure': 'rollback' });
    await lab.annotate('good-since', '2026-01-01T00:00:00Z');
    await lab.image(BROKEN_IMAGE);
    expect(lab.isGood(BROKEN_IMAGE)).toBe(false);
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
  });

  it('leaves the policies as they are now when a template of before them comes back', async () => {
    const lab = await Lab.rolledOut({});
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
    const lab = await Lab.rolledOut({});
    await lab.image('app:2');
    const names = [lab.deployment, ...lab.world.replicaSets].flatMap(({ metadata }) =>
      Object.keys(metadata.annotations ?? {}),
    );
    expect(names.filter((name) => name.startsWith(P))).toEqual([]);
    expect(toRfc3339(WORLD_NOW_MS)).toBe('2026-01-01T12:00:00Z');
  });
});
