import { describe, expect, it } from 'vitest';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { drainPatch, parseKeepOld } from '../../../controllers/shared/index.js';
import { explainDeployment } from './explain-deployment.js';
import { NOW_MS, aPodOf, aReplicaSet, progressing, ready } from './stuck-rollout.fixture.js';

const RULE = parseKeepOld('until "http :8080/sessions == 0", at most 1h')!;

describe('pods of old versions that drain', () => {
  it('are told beside a rollout that is complete, and hold nothing up', () => {
    const base = aDeployment({ replicas: 1 });
    const deployment = {
      ...base,
      metadata: { ...base.metadata, uid: 'uid-of-web', generation: 1 },
      status: {
        ...{ observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
        conditions: [progressing('NewReplicaSetAvailable')],
      },
    };
    const image = base.spec.template.spec?.containers[0]?.image ?? '';
    const set = aReplicaSet('new', deployment, image, { size: 1, available: 1 });
    const drained = ['web-a', 'web-b'].map((name) => {
      const pod = aPodOf(set, name, ready());
      const { metadata } = drainPatch(pod, set, RULE, NOW_MS - 60_000);
      const labels = { 'rollkeeper.dev/draining': 'web' };
      return { ...pod, metadata: { ...pod.metadata, ...metadata, labels } };
    });
    const explained = explainDeployment({
      ...{ deployment, replicaSets: [set], pods: [aPodOf(set, 'web-c', ready())], nowMs: NOW_MS },
      draining: drained,
    });
    expect(explained).toMatchObject({ state: 'complete', cause: 'complete' });
    expect(explained.sentence).toMatch(
      /; 2 pods of 1 old version drain outside of the Service until http :8080\/sessions == 0, the last one until .*Z at most\.$/,
    );
    expect(explained.waitsFor).toMatchObject([{ cause: 'draining', severity: 'note' }]);
  });
});
