import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../machinery/clock/index.js';
import type { DeploymentSpec } from '../../../../machinery/kubernetes/index.js';
import { ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../../../testing/deployment-builder.js';
import { JudgedRollout } from '../../../../testing/judged-rollout.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import { replacesAfterEnd } from '../../../shared/index.js';
import { maxTotalReplicas } from '../../kubernetes/limits.js';

const AFTER_END = { 'pod-replacement': 'terminated' };
const ONE_BY_ONE: DeploymentShape = {
  replicas: 3,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
};

/** A rolled out Deployment whose deleted pods linger from now on. */
async function lingering(
  policies: Record<string, string> = AFTER_END,
  shape: DeploymentShape = ONE_BY_ONE,
): Promise<PolicyLab> {
  const lab = await PolicyLab.rolledOut(policies, shape);
  lab.world.lingers = () => true;
  return lab;
}

function withField(podReplacementPolicy: string, shape: DeploymentShape = ONE_BY_ONE): DeploymentShape {
  return { ...shape, spec: { podReplacementPolicy } as Partial<DeploymentSpec> };
}

/** The next pod that lingers has ended. */
async function endOne(lab: PolicyLab): Promise<void> {
  const [pod] = lab.world.allPods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (pod) await lab.world.stopPod(pod);
  await lab.rest();
}

describe('pods that are replaced once they have ended', () => {
  it('are counted against the ceiling of a rollout', async () => {
    const lab = await lingering();
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 1 });
    expect(lab.world.allPods).toHaveLength(4);
    expect(lab.condition()).toBe(
      'Unknown WaitingForTermination New pods start when pods that are being deleted have ended',
    );
    expect(lab.eventsOf('WaitingForTermination')).toHaveLength(1);
    await endOne(lab);
    expect(lab.sizes).toEqual({ 'app:1': 1, 'app:2': 2 });
    await endOne(lab);
    await endOne(lab);
    expect(lab.world.allPods).toHaveLength(3);
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('keep a rollout from being complete until the last of them has ended', async () => {
    const lab = await lingering(AFTER_END, {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 1 });
    expect(lab.condition()).toMatch(/^Unknown WaitingForTermination All pods are new; it is complete when/);
    await endOne(lab);
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('do not hold up a rollout without the policy', async () => {
    const lab = await lingering({});
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(lab.world.allPods).toHaveLength(6);
    expect(lab.replicaSet('app:2').metadata.annotations).not.toHaveProperty(`${P}pod-replacement-of-owner`);
  });

  it('are counted where only the status of a ReplicaSet says so', async () => {
    const lab = await PolicyLab.rolledOut(AFTER_END, ONE_BY_ONE);
    const old = lab.replicaSet('app:1');
    const status = { replicas: 3, ...old.status, terminatingReplicas: 1 };
    lab.world.api.seed(ReplicaSet, { ...old, status });
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    await lab.world.sync();
    expect(lab.replicaSet('app:2').spec.replicas).toBe(0);
  });

  const FIELDS: readonly {
    name: string;
    policies: Record<string, string>;
    field: string;
    waits: boolean;
  }[] = [
    { name: 'the field asks for it', policies: {}, field: 'TerminationComplete', waits: true },
    { name: 'the field asks for the opposite', policies: {}, field: 'TerminationStarted', waits: false },
    {
      name: 'the annotation contradicts the field',
      policies: { 'pod-replacement': 'started' },
      field: 'TerminationComplete',
      waits: false,
    },
    { name: 'the field is empty', policies: AFTER_END, field: '', waits: true },
  ];

  it.each(FIELDS)('wait or not, with $name: $waits', async ({ field, policies, waits }) => {
    const lab = await lingering(policies, withField(field));
    await lab.image('app:2');
    expect(lab.world.allPods.length > 4).toBe(!waits);
    expect(replacesAfterEnd(lab.replicaSet('app:1'))).toBe(waits && lab.sizes['app:1'] !== undefined);
  });

  it('are not said to be waited for where a ReplicaSet has only not been seen to yet', async () => {
    const lab = await PolicyLab.rolledOut(AFTER_END, ONE_BY_ONE);
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    await lab.world.sync();
    await lab.world.sync();
    expect(lab.condition()).not.toContain('WaitingForTermination');
    expect(lab.eventsOf('WaitingForTermination')).toEqual([]);
  });

  it('keep their ReplicaSet from being deleted with the history', async () => {
    const policies = { ...AFTER_END, 'on-failure': 'rollback' };
    const lab = await lingering(policies, {
      replicas: 1,
      strategy: ONE_BY_ONE.strategy,
      spec: { revisionHistoryLimit: 0 },
    });
    await lab.image('app:2');
    expect(lab.world.replicaSets).toHaveLength(2);
    await endOne(lab);
    expect(lab.world.replicaSets).toHaveLength(1);
  });

  it('delay a scale, whose rest follows when they have ended, also while the rollout is paused', async () => {
    const lab = await lingering();
    await lab.scale(1);
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.scale(4);
    expect(lab.world.allPods, 'those that are ending are its own').toHaveLength(3);
    expect(lab.sizes).toEqual({ 'app:1': 3 });
    await endOne(lab);
    await endOne(lab);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.world.availablePods).toHaveLength(4);
  });

  it('are passed to the ReplicaSets, and no longer once the policy has gone', async () => {
    const lab = await PolicyLab.rolledOut(AFTER_END, ONE_BY_ONE);
    expect(replacesAfterEnd(lab.replicaSet('app:1'))).toBe(true);
    await lab.annotate('pod-replacement', undefined);
    expect(replacesAfterEnd(lab.replicaSet('app:1'))).toBe(false);
  });

  it('let a Recreate start beside them where the field asks for that', async () => {
    const recreate: DeploymentShape = { replicas: 2, strategy: { type: 'Recreate' } };
    const waiting = await lingering({}, recreate);
    await waiting.image('app:2');
    expect(waiting.sizes).toEqual({});
    const lab = await lingering({}, withField('TerminationStarted', recreate));
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 2 });
  });

  it('are an invalid annotation with any other value', async () => {
    const lab = await PolicyLab.rolledOut({ 'pod-replacement': 'later' }, ONE_BY_ONE);
    expect(lab.condition('RolloutPolicy')).toContain('"later" is not one of started, terminated');
  });
});

const runs = propertyRuns({ gate: 20 });

describe(`the pods that exist, those that are ending included (SEED=${runs.seed})`, () => {
  it('are never more than replicas and the surge, in any order of what happens', async () => {
    const scenario = fc.record({
      seed: fc.integer(),
      replicas: fc.integer({ min: 1, max: 8 }),
      maxSurge: fc.constantFrom(0, 1, '25%', '100%'),
      maxUnavailable: fc.constantFrom(0, 1, '50%'),
      images: fc.array(fc.constantFrom('app:1', 'app:2', 'app:3'), { minLength: 1, maxLength: 5 }),
    });
    const property = fc.asyncProperty(scenario, async (drawn) => {
      const { images, maxSurge, maxUnavailable, replicas } = drawn;
      const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } };
      const annotations = { [`${P}pod-replacement`]: 'terminated' };
      const random = new SeededRandom(drawn.seed);
      const world = new JudgedRollout({
        deployment: aDeployment({ replicas, strategy, annotations }),
        random,
      });
      const ceiling = maxTotalReplicas(world.deployment.spec);
      for (const image of images) {
        world.change((deployment) => setImage(deployment, image));
        for (let moves = Math.floor(random.next() * 60); moves > 0; moves--) {
          await world.move();
          expect(world.allPods.length).toBeLessThanOrEqual(ceiling);
        }
      }
      for (let round = 0; round < 200; round++) {
        await world.sync();
        await world.settle();
      }
      const active = world.replicaSets.filter(({ spec }: ReplicaSet) => (spec.replicas ?? 1) > 0);
      expect(active.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas])).toEqual([
        [images.at(-1), replicas],
      ]);
    });
    await fc.assert(property, runs);
  });
});
