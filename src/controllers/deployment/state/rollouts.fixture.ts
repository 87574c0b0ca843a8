import { failureSentence } from '../policies/failure/tell-failure.js';
import { aPod } from '../../../testing/pod-builder.js';
import type { RolloutPhase, RolloutView } from './rollout-view.js';
import {
  T0,
  at,
  type Shape,
  FAILURE,
  FAILED_NOW,
  failed,
  BAKED,
  MARKED,
  COMPLETE,
} from './rollout-view.fixture.js';

const said = failureSentence(FAILURE);

/** A rollout in each of its phases, and the words of `rollout status` for it. */
export const ROLLOUTS: readonly {
  readonly name: string;
  readonly shape: Shape;
  readonly more?: Partial<RolloutView>;
  readonly phase: RolloutPhase;
  readonly says: string;
  readonly failure?: string;
}[] = [
  {
    name: 'all are new and available',
    shape: COMPLETE,
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'nothing is asked for',
    shape: { ...COMPLETE, replicas: 0, updated: 0, total: 0, available: 0, annotations: BAKED },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'the controller has not seen the change',
    shape: { ...COMPLETE, observed: 1 },
    phase: 'progressing',
    says: 'Waiting for deployment spec update to be observed',
  },
  {
    name: 'what an unseen change replaces has failed',
    shape: { reason: 'ProgressDeadlineExceeded', observed: 1 },
    phase: 'progressing',
    says: 'to be observed',
  },
  {
    name: 'new pods are missing',
    shape: { reason: 'ReplicaSetUpdated', updated: 3 },
    phase: 'progressing',
    says: '3 out of 5 new replicas have been updated',
  },
  {
    name: 'it is paused in its middle',
    shape: { reason: 'DeploymentPaused', updated: 0, spec: { paused: true } },
    phase: 'paused',
    says: 'is paused',
  },
  {
    name: 'it is paused at a step',
    shape: { reason: 'WaitingForApproval', updated: 2, spec: { paused: true } },
    phase: 'paused',
    says: 'is paused',
  },
  {
    name: 'it is paused and complete',
    shape: { reason: 'DeploymentPaused', spec: { paused: true } },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'a step lasts',
    shape: { reason: 'WaitingInStep', message: 'Step 2 of 4', updated: 1 },
    phase: 'waiting-in-step',
    says: 'Step 2 of 4',
  },
  {
    name: 'a step waits for an approval',
    shape: { reason: 'WaitingForApproval', message: 'Step 4 of 4', updated: 1 },
    phase: 'waiting-for-approval',
    says: 'Step 4 of 4',
  },
  {
    name: 'a freeze holds it, with all pods of the version before available',
    shape: { reason: 'RolloutHeld', message: 'held by a freeze: inventory', updated: 0 },
    phase: 'held',
    says: 'inventory',
  },
  {
    name: 'a disruption budget forbids to take old pods',
    shape: { reason: 'WaitingForBudget', message: 'No old pod may go: web', updated: 1 },
    phase: 'held',
    says: 'No old pod may go',
  },
  {
    name: 'it is not its turn, since as many others roll out as may',
    shape: { reason: 'WaitingForTurn', message: 'It is not its turn: at most 1', updated: 0 },
    phase: 'held',
    says: 'not its turn',
  },
  {
    name: 'one before it in the order has not ended well',
    shape: {
      reason: 'WaitingForOrder',
      message: 'The rollout waits for deployment/api, which is not complete',
      updated: 0,
    },
    phase: 'held',
    says: 'waits for deployment/api',
  },
  {
    name: 'a check that has not passed, before the last size',
    shape: { reason: 'WaitingForCheck', message: 'Step 2 of 2 (check slo)', updated: 1 },
    phase: 'waiting-for-check',
    says: 'Step 2 of 2 (check slo)',
  },
  {
    name: 'a check that has not passed, after the last size',
    shape: {
      ...COMPLETE,
      annotations: { 'rollkeeper.dev/steps': '100%; check smoke' },
      ofReplicaSet: {
        'deployment.kubernetes.io/revision': '2',
        'rollkeeper.dev/step': JSON.stringify({ revision: '2', done: 1, since: at(0) }),
      },
    },
    phase: 'waiting-for-check',
    says: 'is complete, and its checks have not all passed',
  },
  {
    name: 'a failed check that nothing is gone back from',
    shape: { reason: 'WaitingForCheck', policyReason: 'CheckFailed', updated: 1 },
    phase: 'failed',
    says: 'is held by a check. check slo failed',
    failure: 'check slo failed',
  },
  {
    name: 'the deadline has passed',
    shape: { reason: 'ProgressDeadlineExceeded', updated: 2 },
    phase: 'failed',
    says: 'exceeded its progress deadline',
  },
  {
    name: 'an earlier failure says nothing of a deadline that passes now',
    shape: { reason: 'ProgressDeadlineExceeded', updated: 2, annotations: failed(FAILURE) },
    phase: 'failed',
    says: 'exceeded its progress deadline',
  },
  {
    name: 'a policy is about to go back',
    shape: {
      ...{ reason: 'ProgressDeadlineExceeded', updated: 2, annotations: failed(FAILURE) },
      message: `${said}. Going back to revision 1 (ReplicaSet "web-1").`,
    },
    phase: 'rolling-back',
    says: 'Going back to revision 1',
    failure: 'no such image',
  },
  {
    name: 'its failure has been recorded, and nothing has been seen of that',
    shape: {
      ...{ reason: 'ReplicaSetUpdated', observed: 1, updated: 2 },
      annotations: failed(FAILED_NOW),
    },
    phase: 'rolling-back',
    says: 'failed: no such image. Going back to revision 2',
    failure: 'no such image',
  },
  {
    name: 'a person has just asked to try it again',
    shape: {
      ...{ reason: 'ProgressDeadlineExceeded', observed: 1, updated: 2 },
      annotations: {
        ...failed(FAILED_NOW),
        'rollkeeper.dev/retry': 'alice',
      },
    },
    phase: 'progressing',
    says: 'to be observed',
  },
  {
    name: 'the template is back, and nothing has been seen of it',
    shape: { ...COMPLETE, observed: 1, annotations: failed(FAILURE) },
    phase: 'rolling-back',
    says: 'Going back to revision 1',
    failure: 'no such image',
  },
  {
    name: 'the template is back, and its pods are not',
    shape: { reason: 'ReplicaSetUpdated', updated: 4, annotations: failed(FAILURE) },
    phase: 'rolling-back',
    says: 'Going back to revision 1',
    failure: 'no such image',
  },
  {
    name: 'the template is back with its pods, where no deadline has a condition say so',
    shape: { annotations: failed(FAILURE) },
    phase: 'rolled-back',
    says: 'Revision 1 runs again',
    failure: 'no such image',
  },
  {
    name: 'it was rolled back',
    shape: { reason: 'RolledBack', message: `${said}. Rolled back.`, annotations: failed(FAILURE) },
    phase: 'rolled-back',
    says: 'was rolled back. Revision 2 (ReplicaSet "web-2") failed: no such image',
    failure: 'no such image',
  },
  {
    name: 'what failed is held, and what was good is not back yet',
    shape: {
      ...{ reason: 'ProgressDeadlineExceeded', updated: 0, total: 6, annotations: failed(FAILURE) },
      message: `RolledBack: ${said}. Revision 1 runs until the template changes.`,
    },
    phase: 'rolling-back',
    says: 'Revision 1 runs until',
    failure: 'no such image',
  },
  {
    name: 'what failed is held, and what was good runs',
    shape: {
      ...{ reason: 'ProgressDeadlineExceeded', updated: 0, annotations: failed(FAILURE) },
      message: `RolledBack: ${said}. Revision 1 runs until the template changes.`,
    },
    phase: 'rolled-back',
    says: 'deployment "web" was rolled back. Revision 2',
    failure: 'no such image',
  },
  {
    name: 'what was gone back to failed as well',
    shape: {
      reason: 'ReplicaSetUpdated',
      available: 1,
      annotations: failed({ ...FAILED_NOW, to: undefined, stopped: true }),
    },
    phase: 'failed',
    says: 'It is what an earlier failure went back to',
    failure: 'no such image',
  },
  {
    name: 'another template than the one that was gone back to is complete',
    shape: {
      ...COMPLETE,
      annotations: failed({ ...FAILURE, to: { template: 'x', replicaSet: 'web-0', revision: '1' } }),
    },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'the ReplicaSet that was gone back to has been resized in place',
    shape: {
      ...COMPLETE,
      annotations: failed({ ...FAILURE, to: { template: 'smaller', replicaSet: 'web-1', revision: '1' } }),
    },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'it is being deleted',
    shape: { ...COMPLETE, deletedAt: at(0) },
    phase: 'deleting',
    says: 'is being deleted',
  },
  {
    name: 'its bake time is not over',
    shape: { ...COMPLETE, annotations: BAKED },
    more: { nowMs: T0 + 599_000 },
    phase: 'baking',
    says: 'watched until 2026-01-01T00:10:00Z; 5 of 5 pods are available',
  },
  {
    name: 'the bake time of its Namespace is not over',
    shape: COMPLETE,
    more: { namespaceAnnotations: BAKED },
    phase: 'baking',
    says: 'watched until',
  },
  {
    name: 'its bake time is over',
    shape: { ...COMPLETE, annotations: BAKED },
    more: { nowMs: T0 + 600_000 },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'its bake time is over, and its controller is about to say that it is good',
    shape: { ...COMPLETE, annotations: MARKED },
    more: { nowMs: T0 + 601_000 },
    phase: 'baking',
    says: 'watched until',
  },
  {
    name: 'its controller, which knows nothing of policies, says nothing',
    shape: { ...COMPLETE, annotations: MARKED },
    more: { nowMs: T0 + 630_000 },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'its revision is good',
    shape: { ...COMPLETE, annotations: MARKED, ofReplicaSet: { 'rollkeeper.dev/good-since': at(0) } },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'its revision is good, and a longer watch is asked for',
    shape: { ...COMPLETE, annotations: MARKED, ofReplicaSet: { 'rollkeeper.dev/good-since': at(0) } },
    more: { bakeMs: 60_000 },
    phase: 'baking',
    says: 'watched until 2026-01-01T00:01:00Z',
  },
  {
    name: 'no watch is asked for',
    shape: { ...COMPLETE, annotations: MARKED },
    more: { bakeMs: 0 },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'no condition keeps the time, and the newest pod does',
    shape: { annotations: BAKED, spec: { progressDeadlineSeconds: undefined } },
    more: { pods: [aPod({ name: 'web-1-a', ownerUid: 'uid-1', readySince: at(-60) })] },
    phase: 'baking',
    says: 'watched until 2026-01-01T00:09:00Z',
  },
  {
    name: 'its policies cannot be understood, and are off',
    shape: { ...COMPLETE, annotations: { ...BAKED, 'rollkeeper.dev/steps': '20%%' } },
    phase: 'complete',
    says: 'successfully rolled out',
  },
  {
    name: 'pods are lost within the bake time',
    shape: { ...COMPLETE, available: 2, annotations: BAKED },
    more: { wasComplete: true },
    phase: 'baking',
    says: '2 of 5 pods are available',
  },
  {
    name: 'more pods than may be missing are lost when the bake time is over',
    shape: { ...COMPLETE, available: 2, annotations: BAKED },
    more: { wasComplete: true, nowMs: T0 + 600_000 },
    phase: 'failed',
    says: 'at the end of its bake time 2 of 5 pods are available',
  },
  {
    name: 'one pod that may be missing is lost when the bake time is over',
    shape: { ...COMPLETE, available: 4, annotations: BAKED },
    more: { wasComplete: true, nowMs: T0 + 600_000 },
    phase: 'progressing',
    says: '4 of 5 updated replicas are available',
  },
  {
    name: 'a larger size was asked for long after the bake time',
    shape: { ...COMPLETE, available: 2, annotations: BAKED },
    more: { nowMs: T0 + 600_000 },
    phase: 'progressing',
    says: '2 of 5 updated replicas are available',
  },
];
