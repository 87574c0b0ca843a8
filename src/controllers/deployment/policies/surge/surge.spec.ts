import { describe, expect, it } from 'vitest';
import { Pod, PodDisruptionBudget, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { toRfc3339 } from '../../../../machinery/clock/index.js';
import { aBudget } from '../../../../testing/budget-builder.js';
import { PolicyLab } from '../../../../testing/policy-lab.js';
import { createDeploymentController } from '../../definition.js';

const controller = createDeploymentController({ respectDisruptionBudgets: true });
const IF_IT_FITS = { surge: 'if-it-fits' };
const SURGING = {
  strategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
};
const NO_ROOM =
  '0/3 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/3 nodes are available.';

/** A cluster with room for three pods, all of which run. */
async function fullCluster(
  policies: Record<string, string> = IF_IT_FITS,
  prepare: (lab: PolicyLab) => void = () => undefined,
): Promise<PolicyLab> {
  const lab = await PolicyLab.rolledOut(policies, { replicas: 3, ...SURGING }, { controller, prepare });
  lab.world.breaks = () => lab.world.availablePods.length >= 3;
  return lab;
}

/** The scheduler says of every pod that does not run why it has no node. */
function refuse(lab: PolicyLab, message = NO_ROOM): void {
  const since = { lastTransitionTime: toRfc3339(lab.clock.now()) };
  const condition = {
    type: 'PodScheduled',
    status: 'False' as const,
    reason: 'Unschedulable',
    message,
    ...since,
  };
  for (const pod of lab.world.allPods)
    if (pod.status?.phase === 'Pending')
      lab.world.api.seed<Pod>(Pod, { ...pod, status: { phase: 'Pending', conditions: [condition] } });
}

const taken = (lab: PolicyLab): number => lab.eventsOf('SurgeDoesNotFit').length;

describe('a surge that does not fit', () => {
  it('takes one old pod after thirty seconds, and no other before a new pod is available [kubernetes#64689]', async () => {
    const lab = await fullCluster();
    lab.world.breaks = (image) => image === 'app:2';
    await lab.image('app:2');
    expect(lab.world.requeueAfterMs, 'it looks whether the pod gets a node').toBe(30_000);
    refuse(lab);
    await lab.pass(29_000);
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:2': 1 });
    expect(lab.world.requeueAfterMs).toBe(1000);
    await lab.pass(1000);
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 2 });
    expect(lab.eventsOf('SurgeDoesNotFit')[0]).toMatch(
      /An old pod goes first, because no node has room for new pod \S+: 0\/3 nodes are available: 3 Insufficient nvidia.com\/gpu$/,
    );
    await lab.pass(600_000);
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 2 });
    expect(taken(lab)).toBe(1);
  });

  it('ends the rollout in a cluster that has room for the old pods alone, never with fewer than two of three [kubernetes#64689]', async () => {
    const lab = await fullCluster();
    await lab.image('app:2');
    for (let round = 0; round < 3; round++) {
      refuse(lab);
      await lab.pass(30_000);
      expect(lab.world.availablePods.length).toBeGreaterThanOrEqual(2);
    }
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(taken(lab)).toBe(3);
  });

  it('surges again as soon as there is room', async () => {
    const lab = await fullCluster();
    await lab.image('app:2');
    refuse(lab);
    await lab.pass(30_000);
    expect(taken(lab)).toBe(1);
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(taken(lab)).toBe(1);
  });

  it('does the same if a quota refuses the new pod', async () => {
    const lab = await fullCluster();
    lab.world.breaks = (image) => image === 'app:2';
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    const refused = lab.replicaSet('app:2');
    const failure = {
      ...{ type: 'ReplicaFailure', status: 'True' as const, reason: 'FailedCreate' },
      message: 'pods "web-x" is forbidden: exceeded quota: small',
      lastTransitionTime: toRfc3339(lab.clock.now()),
    };
    lab.world.api.seed<ReplicaSet>(ReplicaSet, {
      ...refused,
      status: { replicas: 0, observedGeneration: 1, conditions: [failure] },
    });
    lab.clock.move(30_000);
    await lab.world.sync();
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 2 });
    expect(lab.eventsOf('SurgeDoesNotFit')[0]).toContain('a quota refuses the next new pod');
  });

  it('takes none that a PodDisruptionBudget protects', async () => {
    const budget = aBudget({ minAvailable: 3 });
    const lab = await fullCluster(
      IF_IT_FITS,
      ({ world }) => void world.api.seed(PodDisruptionBudget, budget),
    );
    await lab.image('app:2');
    refuse(lab);
    await lab.pass(600_000);
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:2': 1 });
    expect(taken(lab)).toBe(0);
  });

  it('takes none for a pod that room would not help, and none without the annotation', async () => {
    const lab = await fullCluster();
    await lab.image('app:2');
    refuse(lab, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.");
    await lab.pass(600_000);
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:2': 1 });
    const plain = await fullCluster({});
    await plain.image('app:2');
    refuse(plain);
    await plain.pass(600_000);
    expect(plain.sizes).toEqual({ 'app:1': 3, 'app:2': 1 });
  });
});

it('needs budgets to be watched, and says so', async () => {
  const lab = await PolicyLab.rolledOut(IF_IT_FITS, { replicas: 3, ...SURGING });
  expect(lab.condition('RolloutPolicy')).toBe(
    'False BudgetsNotWatched rollkeeper.dev/surge is given, and PodDisruptionBudgets are not watched: start the controller with --respect-disruption-budgets',
  );
  lab.world.breaks = (image) => image === 'app:2';
  await lab.image('app:2');
  refuse(lab);
  await lab.pass(600_000);
  expect(lab.sizes).toEqual({ 'app:1': 3, 'app:2': 1 });
});

it.each([
  [{ surge: 'always' }, 'is not if-it-fits'],
  [{ surge: 'if-it-fits', 'disruption-budgets': 'ignore' }, 'does not go with disruption-budgets: ignore'],
])('%j is refused', async (policies, why) => {
  const lab = await PolicyLab.rolledOut(policies, { replicas: 1 }, { controller });
  expect(lab.condition('RolloutPolicy')).toContain(why);
});
