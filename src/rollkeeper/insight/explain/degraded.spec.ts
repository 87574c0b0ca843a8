import { describe, expect, it } from 'vitest';
import type { Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { NOW_MS, aPodOf, aReplicaSet, progressing, ready, secondsAgo } from './stuck-rollout.fixture.js';
import type { ExplainInput } from './explain-input.js';
import { explainDeployment } from './explain-deployment.js';
import { renderExplanation } from './render-explanation.js';

type PodStatus = NonNullable<Pod['status']>;

/** Ready for a while, then marked not ready by the node controller: its containers are unchanged. */
const silent: PodStatus = {
  phase: 'Running',
  startTime: secondsAgo(500),
  conditions: [
    { type: 'Ready', status: 'False', lastTransitionTime: secondsAgo(40) },
    { type: 'ContainersReady', status: 'True', lastTransitionTime: secondsAgo(490) },
  ],
};
/** The kubelet itself reports that it is not ready any more. */
const failing: PodStatus = {
  ...silent,
  conditions: [
    { type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: secondsAgo(40) },
    { type: 'ContainersReady', status: 'False', lastTransitionTime: secondsAgo(40) },
  ],
};
/** Never ready so far: the condition is as old as the pod. */
const starting: PodStatus = {
  phase: 'Running',
  startTime: secondsAgo(5),
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: secondsAgo(5) }],
};

function aDeploymentWith(
  statuses: readonly PodStatus[],
  { reason = 'NewReplicaSetAvailable', ...more }: Partial<ExplainInput> & { reason?: string } = {},
): ExplainInput {
  const base = aDeployment({ replicas: statuses.length });
  const available = statuses.filter((status) => status.conditions?.[0]?.status === 'True').length;
  const deployment = {
    ...base,
    metadata: { ...base.metadata, uid: 'uid-of-web', generation: 1 },
    status: {
      ...{ observedGeneration: 1, replicas: statuses.length, updatedReplicas: statuses.length },
      availableReplicas: available,
      conditions: [progressing(reason)],
    },
  };
  const image = base.spec.template.spec?.containers[0]?.image ?? '';
  const replicaSet = aReplicaSet('new', deployment, image, { size: statuses.length, available });
  const pods = statuses.map((status, index) => aPodOf(replicaSet, `web-${index}`, status));
  return { deployment, replicaSets: [replicaSet], pods, nowMs: NOW_MS, ...more };
}

describe('a Deployment that was rolled out and has lost pods', () => {
  it('is degraded after a rollback as well', () => {
    const explanation = explainDeployment(aDeploymentWith([silent, ready()], { reason: 'RolledBack' }));
    expect(explanation.state).toBe('degraded');
  });

  it('is degraded, and says which pods were ready, on which node that is not', () => {
    const nodesNotReady = new Map([['node-1', secondsAgo(50)]]);
    const explanation = explainDeployment(aDeploymentWith([silent, silent, ready()], { nodesNotReady }));
    expect(explanation).toMatchObject({ state: 'degraded', cause: 'node-not-ready' });
    expect(explanation.sentence).toBe(
      `Degraded: 3 of 3 pods are new, 1 available; 2 pods were ready and are not, on node node-1, which is not Ready since ${secondsAgo(50)}.`,
    );
    expect(explanation.waitsFor[0]?.pods).toMatchObject([
      { name: 'web-0', node: 'node-1', reason: 'NoLongerReady' },
      { name: 'web-1', node: 'node-1' },
    ]);
    expect(renderExplanation(explanation)).toContain('    web-0 on node-1: NoLongerReady');
  });

  it('names the node also where nobody may read nodes: only the node controller leaves the containers ready', () => {
    const { cause, sentence, state } = explainDeployment(aDeploymentWith([silent, ready()]));
    expect({ cause, state }).toEqual({ cause: 'node-not-ready', state: 'degraded' });
    expect(sentence).toContain('pod web-0 was ready and is not, on node node-1, which stopped reporting');
  });

  it('does not blame a node for what its kubelet says of a container', () => {
    for (const nodesNotReady of [undefined, new Map<string, string>()]) {
      const more = nodesNotReady ? { nodesNotReady } : {};
      const { cause, state } = explainDeployment(aDeploymentWith([failing, ready()], more));
      expect({ cause, state }).toEqual({ cause: 'no-longer-ready', state: 'degraded' });
    }
  });

  it('is not degraded while it rolls out, nor for pods that never were ready', () => {
    const rolling = explainDeployment(aDeploymentWith([silent, ready()], { reason: 'ReplicaSetUpdated' }));
    expect(rolling.state).toBe('blocked');
    expect(explainDeployment(aDeploymentWith([starting, ready()])).state).toBe('progressing');
  });

  it('is complete again once others have taken the place of its pods, whatever becomes of those', () => {
    const input = aDeploymentWith([ready(), ready()]);
    const [replicaSet] = input.replicaSets;
    if (!replicaSet) throw new Error('there is none');
    const gone = { deletionTimestamp: secondsAgo(60) };
    const overdue = aPodOf(structuredClone(replicaSet) as ReplicaSet, 'web-gone', silent, gone);
    const { state, waitsFor } = explainDeployment({ ...input, pods: [...input.pods, overdue] });
    expect(state).toBe('complete');
    expect(waitsFor).toMatchObject([
      { cause: 'terminating', severity: 'note', pods: [{ name: 'web-gone', node: 'node-1' }] },
    ]);
  });

  it('is stuck rather than degraded where nothing can be done about it', () => {
    const control = {
      controllerRuns: true,
      store: { name: 'redis', answers: false, silentSinceMs: NOW_MS - 7000 },
    };
    const { cause, sentence, state } = explainDeployment(aDeploymentWith([silent], { control }));
    expect({ cause, state }).toEqual({ cause: 'store-silent', state: 'blocked' });
    expect(sentence).toMatch(/Redis does not answer since 2026-01-01T11:59:53Z \(7 s\): pods that run go on/);
  });
});
