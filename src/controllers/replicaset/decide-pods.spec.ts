import { describe, expect, it } from 'vitest';
import { describeDecision } from './decide-pods.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';

const none = {
  ...{ active: [], freeNames: [], pendingDeletes: [], creates: [], deletes: [], marks: [], removes: [] },
  heldBack: false,
};

describe('the description of what a ReplicaSet sync decided', () => {
  it('counts what is to be done, and says nothing of what there is none of', () => {
    const replicaSet = aReplicaSet({ replicas: 5 });
    expect(
      describeDecision(replicaSet, { ...none, active: [1, 2], creates: [1, 2, 3], freeNames: [1] }),
    ).toEqual({
      branch: 'create-pods',
      summary: 'web: create 3 pods',
      changes: true,
      inputs: {
        'rollkeeper.replicas': 5,
        'rollkeeper.pods.active': 2,
        'rollkeeper.pods.create': 3,
        'rollkeeper.intents.create': 1,
      },
    });
    expect(describeDecision(replicaSet, none).inputs).toEqual({
      'rollkeeper.replicas': 5,
      'rollkeeper.pods.active': 0,
    });
  });

  it('counts failed pods that are not kept', () => {
    const decision = describeDecision(aReplicaSet(), { ...none, removes: [1, 2] });
    expect(decision).toMatchObject({ branch: 'remove-failed-pods', summary: 'web: remove 2 failed pods' });
    expect(decision.changes).toBe(true);
  });
});
