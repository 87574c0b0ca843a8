import { describe } from 'vitest';
import type { Deployment, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import type { StuckCase, Shape } from './stuck-rollout.fixture.js';
import {
  itNamesTheCauseOf,
  NOW_MS,
  secondsAgo,
  aReplicaSet,
  aPodOf,
  ready,
  deployment,
  stuckOn,
  done,
  withSizes,
} from './stuck-rollout.fixture.js';
import type { ExplainInput } from './explain-input.js';

const recreate: Shape = { spec: { strategy: { type: 'Recreate' } } };

const CASES: readonly StuckCase[] = [
  {
    name: 'a pause',
    input: stuckOn(ready(), { spec: { paused: true } }),
    state: 'paused',
    cause: 'paused',
    says: 'it is paused',
  },
  {
    name: 'an old pod that does not end',
    input: ((): ExplainInput => {
      const input = stuckOn(ready());
      const [old] = input.replicaSets as readonly ReplicaSet[];
      const pod = aPodOf(old as ReplicaSet, 'web-old-z', ready(), {
        deletionTimestamp: secondsAgo(90),
        finalizers: ['example.com/hold'],
      });
      return { ...input, pods: [...input.pods, pod] };
    })(),
    state: 'blocked',
    cause: 'terminating',
    says: 'held by finalizers example.com/hold',
  },
  {
    name: 'an old pod that does not end, and nobody says why',
    input: ((): ExplainInput => {
      const input = stuckOn(ready());
      const [old] = input.replicaSets as readonly ReplicaSet[];
      const pod = aPodOf(old as ReplicaSet, 'web-old-z', ready(), { deletionTimestamp: secondsAgo(90) });
      return { ...input, pods: [...input.pods, pod] };
    })(),
    state: 'blocked',
    cause: 'terminating',
    says: 'pod web-old-z should have ended (its grace period ended 90 s ago)',
  },
  {
    name: 'the surge, while the new pods are not in the cache yet',
    input: withSizes({ old: { size: 4, available: 4 }, new: { size: 1 } }),
    state: 'progressing',
    cause: 'max-surge',
    says: 'the new ReplicaSet stays at 1: 5 pods are requested and maxSurge 1 allows 5',
  },
  {
    name: 'the floor, with the last old pod',
    input: withSizes({ old: { size: 1, available: 1 }, new: { size: 4, available: 3 } }),
    state: 'progressing',
    cause: 'max-unavailable',
    says: 'the old pod stays: 4 must be available (maxUnavailable 0), and 1 new pod is not available yet',
  },
  {
    name: 'a namespace that is being deleted',
    input: { ...withSizes({ old: { size: 4, available: 4 } }), namespaceTerminating: true },
    state: 'blocked',
    cause: 'namespace-terminating',
    says: 'its namespace is being deleted',
  },
  {
    name: 'names that others have taken',
    input: ((): ExplainInput => {
      const input = withSizes({ old: { size: 4, available: 4 } });
      const status = { ...input.deployment.status, collisionCount: 2 };
      return { ...input, deployment: { ...input.deployment, status } };
    })(),
    state: 'progressing',
    cause: 'next-sync',
    says: 'the next sync will create web-',
    also: ['hash-collision'],
  },
  {
    name: 'a name that leaves no room for a hash',
    input: ((): ExplainInput => {
      const input = withSizes({});
      const metadata = { ...input.deployment.metadata, name: 'w'.repeat(250) };
      return { ...input, deployment: { ...input.deployment, metadata } };
    })(),
    state: 'blocked',
    cause: 'name-too-long',
    says: 'its name of 250 characters leaves no room',
  },
  {
    name: 'a request to go back to a revision that is not kept',
    input: done({ metadata: { annotations: { 'deprecated.deployment.rollback.to': '7' } } }),
    state: 'progressing',
    cause: 'rollback-revision-not-found',
    says: 'a revision that is not kept was requested (Unable to find the revision to rollback to.)',
  },
  {
    name: 'Recreate, waiting for an old pod that is ending',
    input: ((): ExplainInput => {
      const web = deployment(recreate);
      const old = aReplicaSet('old', web, 'app:1', { size: 0, replicas: 0 });
      const pod = aPodOf(old, 'web-old-a', ready(), { deletionTimestamp: secondsAgo(-20) });
      return { deployment: web, replicaSets: [old], pods: [pod], nowMs: NOW_MS };
    })(),
    state: 'progressing',
    cause: 'recreate-waits',
    says: 'strategy Recreate: no new pod before pod web-old-a of the old version has ended',
  },
  {
    name: 'an empty selector',
    input: { ...done(), deployment: deployment({ spec: { selector: {} } }) },
    state: 'blocked',
    cause: 'empty-selector',
    says: 'its selector is empty',
  },
  {
    name: 'a spec that cannot be acted on',
    input: {
      ...done(),
      deployment: deployment({
        spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'some' } } },
      }),
    },
    state: 'blocked',
    cause: 'invalid-spec',
    says: 'maxSurge',
  },
  {
    name: 'a parked key',
    input: {
      ...stuckOn({ phase: 'Pending' }),
      queue: {
        parked: {
          ...{ error: 'the API said no', retries: 15 },
          ...{ parkedAtMs: NOW_MS - 5000, nextTryMs: NOW_MS + 540_000 },
        },
      },
    },
    state: 'blocked',
    cause: 'parked',
    says: 'parked for 5 s after 15 retries; next try in 540 s: the API said no',
  },
  {
    name: 'a sync that fails and is tried again',
    input: { ...stuckOn({ phase: 'Pending' }), queue: { retry: { failures: 3, dueMs: NOW_MS + 4000 } } },
    state: 'progressing',
    cause: 'retrying',
    says: 'its sync failed 3 times in a row; next try in 4 s',
  },
  {
    name: 'a sync that fails, and why',
    input: { ...stuckOn({ phase: 'Pending' }), queue: { retry: { failures: 3, error: 'it took too long' } } },
    state: 'progressing',
    cause: 'retrying',
    says: 'its sync failed 3 times in a row: it took too long',
  },
  {
    name: 'a sync that was told to end and has not',
    input: {
      ...stuckOn({ phase: 'Pending' }),
      queue: {
        overdue: { replica: 'controller-1', sinceMs: NOW_MS - 130_000, overdueSinceMs: NOW_MS - 10_000 },
      },
    },
    state: 'progressing',
    cause: 'sync-timeout',
    says: 'its sync on controller-1, started 130 s ago, exceeded its timeout and was cancelled 10 s ago',
  },
  {
    name: 'a sync that went on when its key was let go, of a key that is tried again',
    input: {
      ...stuckOn({ phase: 'Pending' }),
      queue: {
        overdue: { replica: 'controller-1', sinceMs: NOW_MS - 320_000, overdueSinceMs: NOW_MS - 200_000 },
        retry: { failures: 1, dueMs: NOW_MS + 4000 },
      },
    },
    state: 'progressing',
    cause: 'retrying',
    says: 'its sync failed 1 times in a row; next try in 4 s',
  },
  {
    name: 'no replica that runs the controller',
    input: { ...stuckOn({ phase: 'Pending' }), control: { controllerRuns: false } },
    state: 'blocked',
    cause: 'controller-not-running',
    says: 'no replica runs the Deployment controller',
  },
  {
    name: 'a key that waits in the queue, and nobody works',
    input: {
      ...stuckOn({ phase: 'Pending' }),
      control: { controllerRuns: false },
      queue: { waiting: true },
    },
    state: 'blocked',
    cause: 'controller-not-running',
    says: 'no replica runs the Deployment controller; its key waits in the queue',
  },
  {
    name: 'no leader',
    input: { ...stuckOn({ phase: 'Pending' }), control: { controllerRuns: true } },
    state: 'progressing',
    cause: 'no-leader',
    says: 'no replica leads',
  },
  {
    name: 'a change that nobody has seen yet',
    input: done({ metadata: { generation: 7 } }),
    state: 'progressing',
    cause: 'not-observed-yet',
    says: 'has not seen generation 7 yet',
  },
  {
    name: 'a ReplicaSet controller that is behind',
    input: ((): ExplainInput => {
      const input = stuckOn(ready());
      const web = input.deployment as Deployment;
      const fresh = aReplicaSet('new', web, 'app:2', { size: 1, generation: 2 });
      return { ...input, replicaSets: [input.replicaSets[0] as ReplicaSet, fresh] };
    })(),
    state: 'progressing',
    cause: 'replicaset-behind',
    says: 'has not acted on the size of web-new yet',
  },
  {
    name: 'a size that the next sync will change',
    input: ((): ExplainInput => {
      const web = deployment();
      const old = aReplicaSet('old', web, 'app:1', { size: 4, available: 4 });
      const fresh = aReplicaSet('new', web, 'app:2', { size: 1, available: 1 });
      return { deployment: web, replicaSets: [old, fresh], pods: [], nowMs: NOW_MS };
    })(),
    state: 'progressing',
    cause: 'next-sync',
    says: 'the next sync will scale web-old from 4 to 3',
  },
  {
    name: 'a selector that another Deployment has too',
    input: {
      ...done(),
      neighbours: [{ ...deployment(), metadata: { name: 'rival', namespace: 'default', uid: 'uid-rival' } }],
    },
    state: 'complete',
    cause: 'complete',
    says: 'Complete',
    also: ['selector-conflict'],
  },
  {
    name: 'a deletion, dependents first',
    input: done({ metadata: { deletionTimestamp: secondsAgo(1), finalizers: ['foregroundDeletion'] } }),
    state: 'deleting',
    cause: 'deleting',
    says: 'dependents first: 1 ReplicaSet and 4 pods are left',
  },
  {
    name: 'a deletion that a finalizer holds',
    input: done({ metadata: { deletionTimestamp: secondsAgo(1), finalizers: ['example.com/backup'] } }),
    state: 'deleting',
    cause: 'deleting',
    says: 'finalizers example.com/backup block it',
  },
  {
    name: 'nothing: scaled to 0',
    input: done({}, 0),
    state: 'scaled-to-zero',
    cause: 'scaled-to-zero',
    says: '0',
  },
  {
    name: 'nothing: complete',
    input: done(),
    state: 'complete',
    cause: 'complete',
    says: 'all 4 pods are new',
  },
];

describe('a rollout that waits for limits, rules, or the replica that works on it', () => {
  itNamesTheCauseOf(CASES);
});
