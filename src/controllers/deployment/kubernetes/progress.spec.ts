import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../../machinery/clock/index.js';
import type { Deployment, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { decideRollout } from '../decide-rollout.js';
import { OWN_RULES } from './rollout-rules.js';
import { RolloutDraft } from './draft.js';
import { progressCheckAfterMs } from './progress.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const MINUTE_MS = 60_000;

/** A rollout that cannot proceed, with its last progress some minutes ago. */
function stuck(minutesAgo: number, spec: Partial<Deployment['spec']> = {}): RolloutDraft {
  const deployment = aDeployment({ replicas: 2, spec });
  const time = toRfc3339(NOW_MS - minutesAgo * MINUTE_MS);
  deployment.status = {
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    conditions: [
      {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        lastUpdateTime: time,
        lastTransitionTime: time,
      },
    ],
  };
  const draft = new RolloutDraft({
    deployment,
    owned: [itsReplicaSet(deployment)],
    adopted: [],
    now: toRfc3339(NOW_MS),
    nowMs: NOW_MS,
  });
  decideRollout(draft, { podsOf: () => [], rules: OWN_RULES });
  return draft;
}

function itsReplicaSet(deployment: Deployment): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-1',
      uid: 'uid-of-web-1',
      generation: 1,
      ownerReferences: [newControllerRef(deployment)],
    },
    spec: { replicas: 2, selector: deployment.spec.selector, template: deployment.spec.template },
    status: { replicas: 2, observedGeneration: 1 },
  };
}

function progressing(draft: RolloutDraft): string | undefined {
  return draft.status.conditions?.find(({ type }) => type === 'Progressing')?.reason;
}

describe('the progress deadline', () => {
  it('is looked at again when it will have passed, and a second later', () => {
    const draft = stuck(3);
    expect(progressing(draft)).toBe('ReplicaSetUpdated');
    expect(progressCheckAfterMs(draft)).toBe(7 * MINUTE_MS + 1000);
  });

  it('is reported once it has passed, and not looked at any more', () => {
    const draft = stuck(11);
    expect(progressing(draft)).toBe('ProgressDeadlineExceeded');
    expect(progressCheckAfterMs(draft)).toBeUndefined();
  });

  it('does not pass while the Deployment is paused', () => {
    const draft = stuck(11, { paused: true });
    expect(progressing(draft)).toBe('DeploymentPaused');
    expect(progressCheckAfterMs(draft)).toBeUndefined();
  });

  it.each([undefined, 2 ** 31 - 1])('without one (%s) nothing is said about progress', (seconds) => {
    const draft = stuck(11, { progressDeadlineSeconds: seconds });
    expect(progressing(draft)).toBeUndefined();
    expect(progressCheckAfterMs(draft)).toBeUndefined();
  });

  it('terminating pods are counted where ReplicaSets report them', () => {
    const deployment = aDeployment({ replicas: 2 });
    const replicaSet = itsReplicaSet(deployment);
    replicaSet.status = { replicas: 2, observedGeneration: 1, terminatingReplicas: 3 };
    const now = toRfc3339(NOW_MS);
    const draft = new RolloutDraft({ deployment, owned: [replicaSet], adopted: [], now, nowMs: NOW_MS });
    decideRollout(draft, { podsOf: () => [], rules: OWN_RULES });
    expect(draft.status.terminatingReplicas).toBe(3);
    expect(stuck(1).status).not.toHaveProperty('terminatingReplicas');
  });
});
