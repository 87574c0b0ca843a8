import { describe, expect, it } from 'vitest';
import type { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { queuedRollout } from '../../../controllers/deployment/index.js';
import { aPodOf, ready, stuckOn } from './stuck-rollout.fixture.js';
import { explainDeployment } from './explain-deployment.js';
import type { ExplainInput } from './explain-input.js';

const P = 'rollkeeper.dev/';

/** In the middle of a rollout to `app:2`, with annotations on the Deployment and on its Namespace. */
function under(annotations: Record<string, string>, more: Partial<ExplainInput> = {}): ExplainInput {
  const input = stuckOn(ready());
  const { deployment } = input;
  const metadata = {
    ...deployment.metadata,
    annotations: { ...deployment.metadata.annotations, ...annotations },
  };
  return { ...input, deployment: { ...deployment, metadata }, ...more };
}

/** The new version has no pods yet: an experiment comes before them. */
function atFirstStep(set: ExplainInput['replicaSets'][number], { deployment, nowMs }: ExplainInput) {
  const isNew = set.metadata.annotations?.['deployment.kubernetes.io/revision'] === '2';
  const size = isNew ? 0 : (deployment.spec.replicas ?? 1);
  const step = JSON.stringify({ revision: '2', done: 0, since: new Date(nowMs).toISOString() });
  const annotations = { ...set.metadata.annotations, ...(isNew && { [`${P}step`]: step }) };
  const counts = { replicas: size, readyReplicas: size, availableReplicas: size };
  return {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec, replicas: size },
    status: { ...set.status, ...counts },
  };
}

describe('the waits of the policies of a rollout', () => {
  it('is a finding with what would end it, for annotations that cannot be understood', () => {
    const explanation = explainDeployment(under({ [`${P}steps`]: 'ten' }));
    const finding = explanation.waitsFor.find(({ cause }) => cause === 'invalid-policy');
    expect(finding).toMatchObject({ severity: 'blocked' });
    expect(finding?.summary).toContain('rollkeeper.dev/steps: "ten"');
    expect(explanation.state, 'it is among the problems').toBe('blocked');
  });

  it('is a problem where a mistyped annotation holds nothing yet', () => {
    const complete = under({ [`${P}bake-tme`]: '5m' });
    const replicaSets = complete.replicaSets.filter(({ metadata }) => metadata.name.includes('new'));
    const explanation = explainDeployment({ ...complete, replicaSets });
    expect(explanation.state).toBe('blocked');
    expect(explanation.waitsFor[0]?.summary).toContain('did you mean rollkeeper.dev/bake-time?');
  });

  it('says what a disruption budget forbids, as the status has it, and foresees no size until then', () => {
    const input = under({ [`${P}disruption-budgets`]: 'respect' });
    const told = { type: 'Progressing', status: 'Unknown' as const, reason: 'WaitingForBudget' };
    const message = 'No old pod may go: PodDisruptionBudget "web" needs 3 healthy pods';
    const status = { ...input.deployment.status, conditions: [{ ...told, message }] };
    const replicaSets = input.replicaSets.map((set) => ({
      ...set,
      status: { ...set.status, replicas: set.spec.replicas ?? 1, availableReplicas: set.spec.replicas ?? 1 },
    }));
    const deployment = { ...input.deployment, status } as ExplainInput['deployment'];
    const explanation = explainDeployment({ ...input, deployment, replicaSets });
    const finding = explanation.waitsFor.find(({ cause }) => cause === 'waits-for-budget');
    expect(finding).toMatchObject({ severity: 'waits' });
    expect(finding?.summary).toContain('PodDisruptionBudget "web" needs 3 healthy pods');
    const sizes = explanation.replicaSets.map(({ nextSize, size }) => nextSize - size);
    expect(sizes.every((change) => change === 0)).toBe(true);
  });

  it('says behind whom a rollout waits for its turn', () => {
    const input = under({ [`${P}turn`]: '{"template":"h","asked":"2026-01-01T00:00:02Z","round":2}' });
    const replicaSets = input.replicaSets.filter(({ metadata }) => metadata.name.includes('old'));
    const [old] = replicaSets;
    const revision = 'deployment.kubernetes.io/revision';
    const annotations = {
      ...input.deployment.metadata.annotations,
      [revision]: old?.metadata.annotations?.[revision] ?? '',
    };
    const told = { type: 'Progressing', status: 'Unknown' as const, reason: 'WaitingForTurn' };
    const status = {
      ...input.deployment.status,
      conditions: [{ ...told, message: 'It is not its turn: at most 1' }],
    };
    const metadata = { ...input.deployment.metadata, annotations };
    const deployment = { ...input.deployment, metadata, status } as ExplainInput['deployment'];
    const rolling = queuedRollout(deployment).map((each) => ({
      ...each,
      ...{
        namespace: 'shop',
        name: 'api',
        turn: { ...each.turn, round: 1, granted: '2026-01-01T00:00:01Z' },
      },
    }));
    const queuedRollouts = [...rolling, ...queuedRollout(deployment)];
    const explanation = explainDeployment({ ...input, deployment, replicaSets, pods: [], queuedRollouts });
    expect(explanation.waitsFor.find(({ cause }) => cause === 'waits-for-turn')?.summary).toBe(
      'it is not its turn: at most 1; 0 others wait before it, and it follows shop/api',
    );
  });

  it.each([
    ['waits for the pods of its experiment (available: canary 1 of 2)', undefined, 'time, and its checks'],
    [
      'cannot begin its experiment: Service "x" exists, and is not one of its experiment',
      'Service "x" exists, and is not one of its experiment',
      'what the message names is put right',
    ],
  ])(
    'repeats what the controller said of an experiment, which no explanation reads: it %s',
    (said, problem, end) => {
      const steps = `experiment 10m: canary 2${problem === undefined ? '' : ', services'}; 100%`;
      const input = under({ [`${P}steps`]: steps });
      const name = `Step 1 of 2 (${steps.split('; ')[0]})`;
      const conditions = [
        { type: 'Progressing', status: 'Unknown', reason: 'WaitingInStep', message: `${name}: ${said}` },
        ...(problem === undefined
          ? []
          : [{ type: 'RolloutPolicy', status: 'False', reason: 'ServiceNotUsable', message: problem }]),
      ];
      const replicaSets = input.replicaSets.map((set) => atFirstStep(set, input));
      const status = { ...input.deployment.status, conditions };
      const deployment = { ...input.deployment, status } as ExplainInput['deployment'];
      const finding = explainDeployment({ ...input, deployment, replicaSets }).waitsFor.find(
        ({ cause }) => cause === (problem === undefined ? 'waits-in-step' : 'invalid-policy'),
      );
      expect(finding?.summary).toBe(`it is at ${name.toLowerCase()}: ${said}`);
      expect(finding?.unblockedBy).toContain(end);
    },
  );

  it('repeats what the controller said of a Service, which no explanation reads', () => {
    const annotations = { [`${P}strategy`]: 'blue-green', [`${P}active-service`]: 'web' };
    const input = under(annotations);
    const { spec, status } = input.deployment;
    const message = 'web-new is whole; Service "web" waits for an approval to select it';
    const waiting = {
      type: 'Progressing',
      status: 'Unknown',
      reason: 'WaitingForApproval',
      message,
    } as const;
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%' } } as const;
    const deployment = {
      ...input.deployment,
      spec: { ...spec, strategy },
      status: { ...status, conditions: [waiting] },
    };
    const { replicaSets, waitsFor } = explainDeployment({ ...input, deployment });
    const finding = waitsFor.find(({ cause }) => cause === 'waits-for-approval');
    expect(finding?.summary).toBe(message);
    const old = replicaSets.find(({ role }) => role === 'old');
    expect(old?.nextSize).toBe(old?.size);
  });

  it('names the zone whose old pods wait for new pods', () => {
    const input = under({ [`${P}zones`]: 'one-by-one' });
    const replicaSets = input.replicaSets.map((set) => {
      const size = set.metadata.name.includes('old') ? 3 : 1;
      const available = size === 3 ? 3 : 0;
      const status = {
        ...set.status,
        replicas: size,
        readyReplicas: available,
        availableReplicas: available,
      };
      return { ...set, spec: { ...set.spec, replicas: size }, status };
    });
    const nodeLabels = { availability: 'known', valueOf: () => 'b' } as const;
    const finding = (more: Partial<ExplainInput>) =>
      explainDeployment({ ...input, replicaSets, ...more }).waitsFor.find(
        ({ cause }) => cause === 'waits-for-zone',
      );
    expect(finding({ nodeLabels })?.summary).toMatch(/^old pods in zone b go when the new pods in place of/);
    expect(finding({}), 'where nodes are not known').toBeUndefined();
  });

  it('names the pods that are to be evicted, and says what the additional size is for', () => {
    const input = under({ [`${P}on-eviction`]: 'surge' });
    const [first] = input.replicaSets.filter(({ metadata }) => metadata.name.includes('new'));
    if (!first) throw new Error('there is no new ReplicaSet');
    const { replicas = 1 } = input.deployment.spec;
    const size = replicas + 1;
    const set = {
      ...(first as ReplicaSet),
      spec: { ...(first as ReplicaSet).spec, replicas: size },
      status: { replicas: size, availableReplicas: replicas, readyReplicas: replicas, observedGeneration: 9 },
    };
    const pods = Array.from({ length: size }, (_, index) => {
      const annotations: Record<string, string> = index === 0 ? { [`${P}eviction-asked`]: 'node-1' } : {};
      const status = index < replicas ? ready() : ({ phase: 'Pending' } as const);
      return aPodOf(set, `web-${index}`, status, { uid: `uid-${index}`, annotations });
    });
    const { replicaSets, waitsFor } = explainDeployment({ ...input, replicaSets: [set], pods });
    expect(waitsFor.find(({ cause }) => cause === 'waits-for-replacement')).toMatchObject({
      severity: 'waits',
      summary: 'pod web-0 is to be evicted, and goes when a pod is available in its place',
    });
    expect(replicaSets[0]?.because).toEqual([
      `all ${replicas} that the Deployment requests, and 1 in place of pods that wait for their eviction`,
    ]);
  });

  it('names what holds a version that has not begun, by a default of the Namespace as well', () => {
    const before = under({}, { namespaceAnnotations: { [`${P}freeze`]: 'inventory' } });
    const replicaSets = before.replicaSets.filter(({ metadata }) => metadata.name.includes('old'));
    const [old] = replicaSets;
    const annotations = {
      'deployment.kubernetes.io/revision':
        old?.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '',
    };
    const deployment = {
      ...before.deployment,
      metadata: { ...before.deployment.metadata, annotations },
    };
    const explanation = explainDeployment({ ...before, deployment, replicaSets, pods: [] });
    const finding = explanation.waitsFor.find(({ cause }) => cause === 'rollout-held');
    expect(finding?.summary).toBe('the rollout is held by a freeze: inventory');
    expect(finding?.severity).toBe('waits');
    expect(explanation.deadline).not.toHaveProperty('remainingSeconds');
  });
});
