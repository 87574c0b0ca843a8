import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Deployment, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { aDeployment, setImage } from '../../../testing/deployment-builder.js';
import { renderPlan } from './render-plan.js';
import { simulateRollout } from './simulate-rollout.js';

const nowMs = Date.UTC(2026, 0, 1);

/** The ReplicaSet of a rolled-out Deployment. */
function rolledOut(deployment: Deployment): ReplicaSet {
  const replicas = deployment.spec.replicas ?? 1;
  const labels = { app: 'web', 'pod-template-hash': 'old' };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-old',
      namespace: 'default',
      uid: 'uid-of-web-old',
      generation: 1,
      creationTimestamp: '2025-01-01T00:00:00Z',
      labels,
      annotations: {
        'deployment.kubernetes.io/revision': '1',
        'deployment.kubernetes.io/desired-replicas': String(replicas),
      },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-of-web', controller: true },
      ],
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { ...deployment.spec.template, metadata: { labels } },
    },
    status: { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: 1 },
  };
}

/** A change of the running image. */
function change(deployment: Deployment, more: Partial<Deployment['spec']> = {}) {
  const replicaSets = [rolledOut(structuredClone(deployment))];
  const wanted = structuredClone(deployment);
  setImage(wanted, 'app:2');
  Object.assign(wanted.spec, more);
  return { wanted, replicaSets, nowMs };
}

describe('the plan of a rollout', () => {
  it('shows the worked example: 10 replicas, 25 % and 25 %', () => {
    const plan = simulateRollout(change(aDeployment({ replicas: 10 })));
    expect(plan).toMatchObject({ floor: 8, ceiling: 13, mostPods: 13, fewestAvailable: 8, completes: true });
    expect(plan.steps.map(({ newSize, oldSize }) => [newSize, oldSize])).toEqual([
      [5, 8],
      [10, 3],
      [10, 0],
    ]);
    expect(renderPlan(plan)).toContain('3 steps; at most 13 pods, at least 8 available.');
  });

  it('creates what is not there yet', () => {
    const plan = simulateRollout({ wanted: aDeployment({ replicas: 3 }), replicaSets: [], nowMs });
    expect(plan.steps).toMatchObject([{ step: 1, newSize: 3, oldSize: 0, available: 0, under: 3 }]);
    expect(plan.completes).toBe(true);
    expect(renderPlan(plan)).toContain('3 replicas');
    expect(renderPlan(plan)).toContain('1 step; at most 3 pods');
  });

  it('has no pod at all in between with Recreate', () => {
    const plan = simulateRollout(change(aDeployment({ replicas: 2, strategy: { type: 'Recreate' } })));
    expect(plan.steps.map(({ newSize, oldSize }) => [newSize, oldSize])).toEqual([
      [0, 0],
      [2, 0],
    ]);
    expect(plan.fewestAvailable).toBe(0);
  });

  it('says that a paused rollout rests, and that nothing changes where all is as wanted', () => {
    expect(simulateRollout(change(aDeployment(), { paused: true }))).toMatchObject({
      completes: false,
      steps: [],
    });
    const same = aDeployment();
    const plan = simulateRollout({ wanted: same, replicaSets: [rolledOut(structuredClone(same))], nowMs });
    expect(plan).toMatchObject({ completes: true, steps: [] });
    expect(renderPlan(plan)).toContain('Nothing would change.');
  });

  it('plays the policies: sizes that steps hold, waits, and approvals', () => {
    const annotations = { 'rollkeeper.dev/steps': '10%; wait 5m; 50%; approve' };
    const { wanted, ...question } = change(aDeployment({ annotations }));
    wanted.metadata.annotations = { ...annotations, 'deployment.kubernetes.io/revision': '1' };
    const plan = simulateRollout({ wanted, ...question });
    expect(plan.completes).toBe(true);
    expect(plan.steps.map(({ newSize, oldSize }) => [newSize, oldSize])).toContainEqual([5, 5]);
    const told = plan.steps.flatMap(({ actions }) => actions).join('; ');
    expect(told).toContain('step 2 of 4 (wait 5m)');
    expect(told).toContain('waits for an approval');
  });

  it('takes disruption budgets for given, also where the rollout waits for one now', () => {
    const annotations = { 'rollkeeper.dev/disruption-budgets': 'respect' };
    const { wanted, ...question } = change(aDeployment({ annotations }));
    const told = { type: 'Progressing', status: 'Unknown' as const, reason: 'WaitingForBudget' };
    wanted.status = { conditions: [{ ...told, message: 'No old pod may go: budget "web"' }] };
    expect(simulateRollout({ wanted, ...question }).completes).toBe(true);
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
    const waiting = { ...wanted, spec: { ...wanted.spec, strategy } };
    const { template } = wanted.spec;
    const [old] = question.replicaSets;
    if (!old) throw new Error('no ReplicaSet');
    const empty = {
      ...old,
      metadata: { ...old.metadata, name: 'web-new', uid: 'uid-of-new' },
      spec: { ...old.spec, replicas: 0, template },
      status: { replicas: 0, observedGeneration: 1 },
    };
    const plan = simulateRollout({ ...question, wanted: waiting, replicaSets: [old, empty] });
    expect(plan.completes).toBe(true);
    expect(plan.steps[0]?.actions).toEqual(['no old pod may go: budget "web"']);
  });

  it('takes checks for passed, also after the last size, and says so', () => {
    const annotations = {
      'rollkeeper.dev/steps': 'check pre; 50%; check slo; 100%; check smoke',
      'rollkeeper.dev/checks': 'errors',
    };
    const { wanted, ...question } = change(aDeployment({ annotations }));
    wanted.metadata.annotations = { ...annotations, 'deployment.kubernetes.io/revision': '1' };
    const plan = simulateRollout({ wanted, ...question });
    expect(plan.completes).toBe(true);
    const told = plan.steps
      .flatMap(({ actions }) => actions)
      .filter((action) => action.includes('taken for passed'));
    expect(told).toEqual([
      'check errors: taken for passed, all the way through',
      'step 1 of 5 (check pre): taken for passed',
      'step 3 of 5 (check slo): taken for passed',
      'step 5 of 5 (check smoke): taken for passed',
    ]);
  });

  it('plays a blue-green rollout, with the Services that it names taken for given', () => {
    const annotations = {
      'rollkeeper.dev/strategy': 'blue-green',
      'rollkeeper.dev/active-service': 'web',
      'rollkeeper.dev/preview-service': 'preview',
    };
    const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: '100%' } };
    const plan = simulateRollout(change(aDeployment({ annotations, strategy })));
    expect(plan).toMatchObject({ completes: true, mostPods: 20, fewestAvailable: 10 });
    expect(plan.steps.map(({ newSize, oldSize }) => [newSize, oldSize])).toEqual([
      ...Array.from({ length: 5 }, () => [10, 10]),
      [10, 0],
    ]);
    const told = plan.steps.flatMap(({ actions }) => actions);
    expect(told[1]).toMatch(/^point Service preview at web-/);
    expect(told[2]).toContain('waits for an approval');
    expect(told[3]).toMatch(/^point Service web at web-/);
    expect(told[4]).toContain('web-old stays until');
  });

  it('plays a rollout by weights: the old version stays whole until the new one is', () => {
    const annotations = {
      'rollkeeper.dev/traffic': 'httproute/web',
      'rollkeeper.dev/steps': '2; weight 1%; weight 50%; 60%',
    };
    const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: '100%' } };
    const plan = simulateRollout(change(aDeployment({ annotations, strategy })));
    expect(plan).toMatchObject({ completes: true, mostPods: 20, fewestAvailable: 10 });
    expect([...new Set(plan.steps.map(({ newSize, oldSize }) => `${newSize} ${oldSize}`))]).toEqual([
      '2 10',
      '6 10',
      '10 10',
      '10 0',
    ]);
  });

  it('replaces no pod where only cpu and memory change, and the Deployment is resized in place', () => {
    const deployment = aDeployment({ replicas: 3, annotations: { 'rollkeeper.dev/resize': 'in-place' } });
    const sized = (cpu: string): Deployment => {
      const copy = structuredClone(deployment);
      copy.metadata.annotations = { ...copy.metadata.annotations, 'deployment.kubernetes.io/revision': '1' };
      const [container] = copy.spec.template.spec?.containers ?? [];
      if (container) container.resources = { requests: { cpu } };
      return copy;
    };
    const plan = simulateRollout({ wanted: sized('200m'), replicaSets: [rolledOut(sized('100m'))], nowMs });
    expect(plan).toMatchObject({ completes: true, mostPods: 3, fewestAvailable: 3 });
    expect(plan.steps.flatMap(({ actions }) => actions)).toEqual([
      'pods of web-old are resized in place: 0 of 3 done',
      'create web-old-1 with 0',
    ]);
  });

  it('names the pods that would go, in the order of the ReplicaSet controller, where it knows them', () => {
    const { replicaSets, wanted } = change(aDeployment({ replicas: 3 }));
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-old', uid: 'uid-of-web-old' };
    const pod = (name: string, isReady: boolean): Pod => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name, namespace: 'default', ownerReferences: [{ ...owner, controller: true }] },
      spec: { containers: [], nodeName: `node-of-${name}` },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
    });
    const livePods = [pod('healthy-1', true), pod('ill', false), pod('healthy-2', true)];
    const plan = simulateRollout({ wanted, replicaSets, livePods, nowMs });
    const removed = plan.steps.flatMap(({ removes }) => removes);
    expect(removed[0]).toBe('ill');
    expect(removed.toSorted()).toEqual(['healthy-1', 'healthy-2', 'ill']);
    expect(renderPlan(plan)).toContain('scale web-old from 3 to 2: ill goes');
    const unknown = simulateRollout({ wanted, replicaSets, nowMs });
    expect(unknown.steps.flatMap(({ removes }) => removes)).toEqual([]);
  });

  it('refuses what the controller would refuse', () => {
    const wanted = aDeployment({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'some' } } });
    expect(() => simulateRollout({ wanted, replicaSets: [], nowMs })).toThrow('maxSurge');
  });

  it('always completes within the limits, however the pods become ready', () => {
    const limit = fc.oneof(
      fc.nat(10),
      fc.nat(100).map((percent) => `${percent}%`),
    );
    const pods = fc.constantFrom('batch' as const, 'one-by-one' as const);
    fc.assert(
      fc.property(fc.nat(40), limit, limit, pods, (replicas, maxSurge, maxUnavailable, way) => {
        const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } };
        const plan = simulateRollout({ ...change(aDeployment({ replicas, strategy })), pods: way });
        expect(plan.completes).toBe(true);
        for (const { available, total } of plan.steps) {
          expect(total).toBeLessThanOrEqual(plan.ceiling);
          expect(available).toBeGreaterThanOrEqual(plan.floor);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('changes none of what it is given', () => {
    const question = change(aDeployment());
    const before = structuredClone(question);
    simulateRollout(question);
    expect(question).toEqual(before);
  });
});
