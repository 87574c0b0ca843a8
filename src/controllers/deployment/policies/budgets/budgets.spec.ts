import { describe, expect, it } from 'vitest';
import { Pod, isPodReady, PodDisruptionBudget } from '../../../../machinery/kubernetes/index.js';
import { aBudget } from '../../../../testing/budget-builder.js';
import { MINUTE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { withGranted } from '../../../shared/index.js';
import { createDeploymentController } from '../../definition.js';

const controller = createDeploymentController({ respectDisruptionBudgets: true });
const RESPECT = { 'disruption-budgets': 'respect' };
const surge = (maxSurge: number, maxUnavailable: number) => ({
  strategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } },
});

type BudgetSpec = Parameters<typeof aBudget>[0];

async function labWith(
  spec: BudgetSpec,
  { policies = RESPECT, ...shape }: { policies?: Record<string, string>; [field: string]: unknown } = {},
): Promise<PolicyLab> {
  return PolicyLab.rolledOut(
    policies,
    { replicas: 4, ...surge(0, 2), ...shape },
    { controller, prepare: ({ world }) => void world.api.seed(PodDisruptionBudget, aBudget(spec)) },
  );
}

function healthy({ world }: PolicyLab): number {
  return world.availablePods.length;
}

function budgetOf({ world }: PolicyLab): PodDisruptionBudget {
  const [budget] = world.budgets;
  if (!budget) throw new Error('no budget');
  return budget;
}

describe('a rollout that respects disruption budgets', () => {
  it('takes no more pods at once than the budget gives, although it might by its own limits', async () => {
    const lab = await labWith({ minAvailable: 3 });
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    expect(lab.replicaSet('app:1').spec.replicas).toBe(3);
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.eventsOf('WaitingForBudget'), 'in passing it says nothing').toEqual([]);
  });

  it('takes from the status of the budget first, and names the pods to the ReplicaSet', async () => {
    const lab = await labWith({ minAvailable: 3 });
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    const { status } = budgetOf(lab);
    expect(status?.disruptionsAllowed).toBe(0);
    expect(status?.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'False' }]);
    const [taken] = Object.keys(status?.disruptedPods ?? {});
    const { annotations } = lab.replicaSet('app:1').metadata;
    expect(JSON.parse(annotations?.['rollkeeper.dev/first-to-go'] ?? '')).toMatchObject({
      replicas: 3,
      pods: { [taken ?? '']: expect.any(String) },
    });
    await lab.world.sync();
    expect(lab.replicaSet('app:1').spec.replicas, 'a second pass in a row').toBe(3);
  });

  it('waits where the budget gives nothing, says so once, and goes on when it does', async () => {
    const lab = await labWith({ minAvailable: 4 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    const sentence = 'No old pod may go: PodDisruptionBudget "web" needs 4 healthy pods';
    expect(lab.condition()).toBe(`Unknown WaitingForBudget ${sentence}`);
    await lab.pass(60 * MINUTE_MS);
    expect(lab.condition(), 'no deadline runs').toMatch(/^Unknown WaitingForBudget/);
    expect(lab.eventsOf('WaitingForBudget')).toEqual([`Normal WaitingForBudget ${sentence}`]);
    lab.world.api.seed(PodDisruptionBudget, { ...budgetOf(lab), ...aBudget({ minAvailable: 1 }) });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('goes on under a budget of all pods where a surge starts new ones first', async () => {
    const lab = await labWith({ minAvailable: 4 }, surge(1, 0));
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('takes pods that are not ready, whatever the budget wants', async () => {
    const lab = await labWith({ maxUnavailable: 0 });
    const lost = lab.world.availablePods.slice(0, 2);
    for (const pod of lost) lab.world.api.seed(Pod, { ...pod, status: { ...pod.status, conditions: [] } });
    lab.world.breaks = (image) => image === 'app:1';
    await lab.rest();
    await lab.image('app:2');
    const left = lab.world.allPods.filter(({ metadata }) =>
      lost.some((pod) => pod.metadata.uid === metadata.uid),
    );
    expect(left).toEqual([]);
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 2 });
    expect(lab.condition()).toMatch(/^Unknown WaitingForBudget/);
  });

  it('does not believe a status that counts pods which have gone since', async () => {
    const lab = await labWith({ minAvailable: 3 });
    const [pod] = lab.world.availablePods as [Pod];
    lab.world.api.seed(Pod, { ...pod, status: { ...pod.status, conditions: [] } });
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    for (const set of lab.world.replicaSets) await lab.world.syncReplicaSet(set);
    expect(budgetOf(lab).status?.disruptionsAllowed).toBe(1);
    await lab.world.sync();
    expect(lab.replicaSet('app:1').spec.replicas, 'the unready one alone').toBe(3);
    expect(budgetOf(lab).status?.disruptedPods).toBeUndefined();
  });

  it('does not believe a status of an earlier spec, nor of fewer replicas', async () => {
    const lab = await labWith({ maxUnavailable: 1 });
    const stale = budgetOf(lab);
    lab.world.api.seed(PodDisruptionBudget, { ...stale, metadata: { ...stale.metadata, generation: 2 } });
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition(), 'it may be there in a moment').not.toContain('WaitingForBudget');
    lab.world.api.seed(PodDisruptionBudget, stale);
    lab.world.change(({ spec }) => void (spec.replicas = 5));
    await lab.world.sync();
    await lab.world.sync();
    expect(lab.sizes, 'none has gone: the fifth is a new one').toEqual({ 'app:1': 4, 'app:2': 1 });
  });

  it('takes from every budget over the same pods', async () => {
    const lab = await labWith({ minAvailable: 1 });
    lab.world.api.seed(PodDisruptionBudget, aBudget({ minAvailable: 4 }, { name: 'strict' }));
    lab.world.api.seed(
      PodDisruptionBudget,
      aBudget({ minAvailable: 9 }, { name: 'other', labels: { app: 'db' } }),
    );
    await lab.rest();
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toContain('PodDisruptionBudget "strict" needs 4');
    expect(lab.condition()).not.toContain('"web"');
  });

  it('takes first what was granted already, so that a process which died over it loses nothing', async () => {
    const lab = await labWith({ minAvailable: 3 });
    const [first] = lab.world.availablePods as [Pod];
    lab.world.api.seed(
      PodDisruptionBudget,
      withGranted(budgetOf(lab), [first.metadata.name], lab.clock.now()),
    );
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    expect(lab.replicaSet('app:1').spec.replicas).toBe(3);
    await lab.world.syncReplicaSet(lab.replicaSet('app:1'));
    expect(lab.world.availablePods.map(({ metadata }) => metadata.name)).not.toContain(first.metadata.name);
  });

  it('never scales a Recreate down in part', async () => {
    const lab = await labWith({ minAvailable: 1 }, { strategy: { type: 'Recreate' } });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toMatch(/^Unknown WaitingForBudget/);
    lab.world.api.seed(PodDisruptionBudget, { ...budgetOf(lab), ...aBudget({ minAvailable: 0 }) });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('lets a person scale, which is no rollout', async () => {
    const lab = await labWith({ minAvailable: 4 });
    await lab.scale(2);
    expect(lab.sizes).toEqual({ 'app:1': 2 });
  });

  it('counts what a person has scaled away meanwhile', async () => {
    const lab = await labWith({ minAvailable: 5 }, { replicas: 10, ...surge(0, 4) });
    lab.world.change(({ spec }) => {
      spec.replicas = 6;
      spec.template.spec!.containers[0]!.image = 'app:2';
    });
    await lab.world.sync();
    for (let syncs = 0; syncs < 2; syncs++) await lab.world.syncReplicaSet(lab.replicaSet('app:1'));
    expect(budgetOf(lab).status?.disruptionsAllowed, 'by a status of ten pods').toBe(5);
    await lab.world.sync();
    expect(lab.replicaSet('app:1').spec.replicas).toBe(5);
  });

  it('holds the shrinking at a step as well', async () => {
    const lab = await labWith(
      { minAvailable: 4 },
      { policies: { ...RESPECT, steps: '50%; approve' }, ...surge(0, 1) },
    );
    await lab.image('app:2');
    expect(healthy(lab)).toBe(4);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('holds nothing where nothing asks for it, nor for pods that no budget selects', async () => {
    const lab = await labWith({ minAvailable: 4 }, { policies: {} });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('says where budgets are not watched, and goes on without', async () => {
    const lab = await PolicyLab.rolledOut(RESPECT);
    expect(lab.condition('RolloutPolicy')).toMatch(/^False BudgetsNotWatched .*--respect-disruption-budgets/);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('says after a while that a status does not follow, since then no disruption controller is at work', async () => {
    const lab = await labWith({ minAvailable: 3 });
    const used = withGranted(budgetOf(lab), [], lab.clock.now());
    const status = { ...used.status, disruptionsAllowed: 0, conditions: [] };
    const conditions = [
      {
        ...{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' },
        lastTransitionTime: '2026-01-01T12:00:00Z',
      },
    ];
    lab.world.api.seed(PodDisruptionBudget, {
      ...used,
      status: { ...status, conditions },
    });
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    expect(lab.condition()).not.toContain('WaitingForBudget');
    expect(lab.world.requeueAfterMs).toBe(10_000);
    lab.clock.move(10_000);
    await lab.world.sync();
    expect(lab.condition()).toMatch(/^Unknown WaitingForBudget .* allows no disruption, although more pods/);
  });

  it('shrinks nothing while the caches disagree about ready pods', async () => {
    const lab = await labWith({ minAvailable: 3 });
    const set = lab.replicaSet('app:1');
    for (const pod of lab.world.availablePods.slice(0, 1)) await lab.world.api.delete(Pod, pod.metadata);
    expect(set.status?.readyReplicas).toBe(4);
    expect(lab.world.allPods.filter(isPodReady)).toHaveLength(3);
    lab.world.change(({ spec }) => void (spec.template.spec!.containers[0]!.image = 'app:2'));
    await lab.world.sync();
    expect(lab.replicaSet('app:1').spec.replicas).toBe(4);
  });
});
