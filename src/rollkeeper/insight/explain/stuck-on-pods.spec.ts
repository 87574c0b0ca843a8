import { describe } from 'vitest';
import type { StuckCase } from './stuck-rollout.fixture.js';
import {
  itNamesTheCauseOf,
  NOW_MS,
  secondsAgo,
  aReplicaSet,
  ready,
  waiting,
  progressing,
  deployment,
  stuckOn,
} from './stuck-rollout.fixture.js';
import type { ExplainInput } from './explain-input.js';

const CASES: readonly StuckCase[] = [
  {
    name: 'an image that cannot be pulled',
    input: stuckOn(waiting('ImagePullBackOff', 'Back-off pulling image "app:2"')),
    state: 'blocked',
    cause: 'image-pull',
    says: 'the image of pod web-new-a cannot be pulled: ImagePullBackOff (Back-off pulling image "app:2")',
    also: ['max-surge', 'max-unavailable'],
  },
  {
    name: 'a crash loop',
    input: stuckOn(waiting('CrashLoopBackOff')),
    state: 'blocked',
    cause: 'crash-loop',
    says: 'a container of pod web-new-a keeps ending',
  },
  {
    name: 'a crash loop between two crashes',
    input: stuckOn({
      phase: 'Running',
      containerStatuses: [
        {
          name: 'web',
          ready: false,
          restartCount: 3,
          image: 'app:2',
          imageID: '',
          state: { running: { startedAt: secondsAgo(0) } },
          lastState: { terminated: { exitCode: 1 } },
        },
      ],
    }),
    state: 'blocked',
    cause: 'crash-loop',
    says: 'restarted 3 times',
  },
  {
    name: 'a missing ConfigMap',
    input: stuckOn(waiting('CreateContainerConfigError', 'configmap "settings" not found')),
    state: 'blocked',
    cause: 'container-config',
    says: 'configmap "settings" not found',
  },
  {
    name: 'a pod that no node takes',
    input: stuckOn({
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: '0/3 nodes are available',
        },
      ],
    }),
    state: 'blocked',
    cause: 'unschedulable',
    says: 'no node takes pod web-new-a: Unschedulable (0/3 nodes are available)',
  },
  {
    name: 'a pod that its node sent back',
    input: stuckOn({
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Node did not have enough resource: cpu',
    }),
    state: 'blocked',
    cause: 'rejected-by-node',
    says: 'a node rejected pod web-new-a: OutOfcpu (Node did not have',
  },
  {
    name: 'a readiness probe that never passes',
    input: stuckOn({
      phase: 'Running',
      containerStatuses: [
        {
          name: 'web',
          ready: false,
          restartCount: 0,
          image: 'app:2',
          imageID: '',
          state: { running: { startedAt: secondsAgo(120) } },
        },
      ],
    }),
    state: 'blocked',
    cause: 'not-ready',
    says: 'NotReady (running since 2026-01-01T11:58:00.000Z and not ready)',
  },
  {
    name: 'a pod that has just been created',
    input: stuckOn({ phase: 'Pending' }),
    state: 'progressing',
    cause: 'starting',
    says: 'pod web-new-a is starting (ContainerCreating)',
    also: ['max-surge', 'max-unavailable'],
  },
  {
    name: 'minReadySeconds',
    input: stuckOn(ready(10), { spec: { minReadySeconds: 30 } }),
    state: 'progressing',
    cause: 'min-ready-seconds',
    says: 'must stay ready for minReadySeconds 30; the last counts as available in 20 s',
  },
  {
    name: 'a deadline that has passed',
    input: stuckOn(waiting('ImagePullBackOff'), { conditions: [progressing('ProgressDeadlineExceeded')] }),
    state: 'blocked',
    cause: 'image-pull',
    says: 'cannot be pulled',
    also: ['deadline-exceeded'],
  },
  {
    name: 'a deadline that has passed, and no pod that says why',
    input: stuckOn({ phase: 'Pending' }, { conditions: [progressing('ProgressDeadlineExceeded')] }),
    state: 'blocked',
    cause: 'deadline-exceeded',
    says: 'no progress for progressDeadlineSeconds 600',
    also: ['starting'],
  },
  {
    name: 'a quota',
    input: ((): ExplainInput => {
      const web = deployment();
      const message = 'pods "web-new-x" is forbidden: exceeded quota: small';
      const failure = { type: 'ReplicaFailure', status: 'True' as const, reason: 'FailedCreate', message };
      const fresh = aReplicaSet('new', web, 'app:2', { size: 1, replicas: 0, conditions: [failure] });
      const old = aReplicaSet('old', web, 'app:1', { size: 4, available: 4 });
      return { deployment: web, replicaSets: [old, fresh], pods: [], nowMs: NOW_MS };
    })(),
    state: 'blocked',
    cause: 'quota',
    says: 'exceeded quota: small',
  },
  {
    name: 'a ReplicaSet whose key is parked',
    input: {
      ...stuckOn(ready()),
      replicaSetQueues: new Map([
        ['web-new', { parked: { error: 'exceeded quota', retries: 15, parkedAtMs: NOW_MS - 60_000 } }],
      ]),
    },
    state: 'blocked',
    cause: 'parked',
    says: 'ReplicaSet web-new: its key has been parked for 60 s after 15 retries: exceeded quota',
  },
  {
    name: 'a ReplicaSet whose sync is tried again later',
    input: {
      ...stuckOn(ready()),
      replicaSetQueues: new Map([['web-new', { retry: { failures: 9, dueMs: NOW_MS + 2560 } }]]),
    },
    state: 'progressing',
    cause: 'retrying',
    says: 'ReplicaSet web-new: its sync failed 9 times in a row; next try in 3 s',
  },
  {
    name: 'creations that are held back since nodes reject the pods',
    input: {
      ...stuckOn({ phase: 'Failed', reason: 'OutOfcpu' }),
      replicaSetQueues: new Map([['web-new', { comesBackMs: NOW_MS + 8000 }]]),
    },
    state: 'blocked',
    cause: 'rejected-by-node',
    says: 'a node rejected',
    also: ['rejection-backoff'],
  },
  {
    name: 'creations that are held back since pods fail by themselves before they are ready',
    input: ((): ExplainInput => {
      const web = deployment();
      const message =
        '4 pods died before they were ready, and none has become ready since (DeadlineExceeded)';
      const back = {
        type: 'PodFailureBackOff',
        status: 'True' as const,
        reason: 'DeadlineExceeded',
        message,
      };
      const fresh = aReplicaSet('new', web, 'app:2', { size: 4, replicas: 0, conditions: [back] });
      const replicaSetQueues = new Map([['web-new', { comesBackMs: NOW_MS + 8000 }]]);
      return { deployment: web, replicaSets: [fresh], pods: [], nowMs: NOW_MS, replicaSetQueues };
    })(),
    state: 'progressing',
    cause: 'rejection-backoff',
    says: '(DeadlineExceeded); the next are created in 8 s',
  },
  {
    name: 'pods that admission refuses',
    input: ((): ExplainInput => {
      const web = deployment();
      const message = 'admission webhook "policy.example" denied the request';
      const failure = { type: 'ReplicaFailure', status: 'True' as const, reason: 'FailedCreate', message };
      const fresh = aReplicaSet('new', web, 'app:2', { size: 4, replicas: 0, conditions: [failure] });
      return { deployment: web, replicaSets: [fresh], pods: [], nowMs: NOW_MS };
    })(),
    state: 'blocked',
    cause: 'pod-create-error',
    says: 'denied the request',
  },
  {
    name: 'a ReplicaSet that cannot be created, rather than the key that is parked for it',
    input: {
      deployment: deployment({
        conditions: [progressing('ReplicaSetCreateError', 'Failed to create: forbidden')],
      }),
      replicaSets: [],
      pods: [],
      queue: { parked: { error: 'forbidden', retries: 1, parkedAtMs: NOW_MS } },
      nowMs: NOW_MS,
    },
    state: 'blocked',
    cause: 'replicaset-create-error',
    says: 'Failed to create: forbidden',
    also: ['parked'],
  },
];

describe('a rollout that waits for its pods', () => {
  itNamesTheCauseOf(CASES);
});
