import { describe, expect, it } from 'vitest';
import type { Deployment, DeploymentCondition, Pod, ReplicaSet } from '../kubernetes/index.js';
import { aDeployment } from '../testing/deployment-builder.js';
import { explainDeployment } from './explain-deployment.js';
import type { ExplainInput } from './explain-input.js';
import type { CauseCode, ExplanationState } from './explanation.js';
import { renderExplanation } from './render-explanation.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const secondsAgo = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString();

interface Sizes {
  readonly size: number;
  readonly available?: number;
  readonly replicas?: number;
  readonly conditions?: NonNullable<ReplicaSet['status']>['conditions'];
  readonly generation?: number;
}

/** A ReplicaSet of `default/web` with the Deployment's template (`app:2`) or an older one (`app:1`). */
function aReplicaSet(name: string, of: Deployment, image: string, sizes: Sizes): ReplicaSet {
  const { available = 0, conditions, generation = 1, size } = sizes;
  const template = structuredClone(of.spec.template);
  template.spec = { containers: [{ name: 'web', image }] };
  template.metadata = { labels: { app: 'web', 'pod-template-hash': name } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${name}`,
      namespace: 'default',
      uid: `uid-${name}`,
      generation,
      creationTimestamp: image === 'app:1' ? secondsAgo(1000) : secondsAgo(100),
      labels: { app: 'web', 'pod-template-hash': name },
      annotations: {
        'deployment.kubernetes.io/revision': image === 'app:1' ? '1' : '2',
        'deployment.kubernetes.io/desired-replicas': String(of.spec.replicas),
        'deployment.kubernetes.io/max-replicas': String((of.spec.replicas ?? 1) + 1),
      },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-of-web', controller: true },
      ],
    },
    spec: {
      replicas: size,
      ...(of.spec.minReadySeconds ? { minReadySeconds: of.spec.minReadySeconds } : {}),
      selector: { matchLabels: { app: 'web', 'pod-template-hash': name } },
      template,
    },
    status: {
      replicas: sizes.replicas ?? size,
      readyReplicas: available,
      availableReplicas: available,
      observedGeneration: 1,
      ...(conditions ? { conditions } : {}),
    },
  };
}

type PodStatus = NonNullable<Pod['status']>;

function aPodOf(
  replicaSet: ReplicaSet,
  name: string,
  status: PodStatus,
  metadata: Partial<Pod['metadata']> = {},
): Pod {
  const { name: ownerName, uid = '' } = replicaSet.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: ownerName, uid, controller: true },
      ],
      ...metadata,
    },
    spec: { containers: [], nodeName: 'node-1' },
    status,
  };
}

const ready = (sinceSeconds = 60): PodStatus => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: secondsAgo(sinceSeconds) }],
});

const waiting = (reason: string, message = 'as the kubelet says'): PodStatus => ({
  phase: 'Pending',
  containerStatuses: [
    {
      name: 'web',
      ready: false,
      restartCount: 0,
      image: 'app:2',
      imageID: '',
      state: { waiting: { reason, message } },
    },
  ],
});

const progressing = (reason: string, message = reason): DeploymentCondition => ({
  type: 'Progressing',
  status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
  reason,
  message,
  lastUpdateTime: secondsAgo(100),
  lastTransitionTime: secondsAgo(100),
});

interface Shape {
  readonly spec?: Partial<Deployment['spec']>;
  readonly metadata?: Partial<Deployment['metadata']>;
  readonly conditions?: DeploymentCondition[];
  readonly observedGeneration?: number;
}

/** 4 replicas, surge 1, none may be unavailable, in the middle of app:1 → app:2. */
function deployment({ conditions, metadata, observedGeneration = 1, spec }: Shape = {}): Deployment {
  const base = aDeployment({
    replicas: 4,
    image: 'app:2',
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    spec,
  });
  return {
    ...base,
    metadata: { ...base.metadata, annotations: { 'deployment.kubernetes.io/revision': '2' }, ...metadata },
    status: { observedGeneration, conditions: conditions ?? [progressing('ReplicaSetUpdated')] },
  };
}

/** The new ReplicaSet has one pod with this status, and the four old ones serve. */
function stuckOn(
  status: PodStatus,
  shape: Shape = {},
  podMetadata: Partial<Pod['metadata']> = {},
): ExplainInput {
  const web = deployment(shape);
  const old = aReplicaSet('old', web, 'app:1', { size: 4, available: 4 });
  const fresh = aReplicaSet('new', web, 'app:2', { size: 1 });
  const pods = ['a', 'b', 'c', 'd'].map((letter) => aPodOf(old, `web-old-${letter}`, ready()));
  return {
    deployment: web,
    replicaSets: [old, fresh],
    pods: [...pods, aPodOf(fresh, 'web-new-a', status, podMetadata)],
    control: { controllerRuns: true, leader: 'controller-0' },
    nowMs: NOW_MS,
  };
}

/** Four new pods, available, nothing old. */
function done(shape: Shape = {}, replicas = 4): ExplainInput {
  const web = deployment({
    conditions: [progressing('NewReplicaSetAvailable')],
    ...shape,
    spec: { replicas, ...shape.spec },
  });
  const fresh = aReplicaSet('new', web, 'app:2', { size: replicas, available: replicas });
  const pods = Array.from({ length: replicas }, (_, index) => aPodOf(fresh, `web-new-${index}`, ready()));
  return { deployment: web, replicaSets: [fresh], pods, nowMs: NOW_MS };
}

/** Nothing is known of the pods but what the ReplicaSets say. */
function withSizes(sizes: { readonly old?: Sizes; readonly new?: Sizes }): ExplainInput {
  const web = deployment();
  const replicaSets = [
    ...(sizes.old ? [aReplicaSet('old', web, 'app:1', sizes.old)] : []),
    ...(sizes.new ? [aReplicaSet('new', web, 'app:2', sizes.new)] : []),
  ];
  return { deployment: web, replicaSets, pods: [], nowMs: NOW_MS };
}

interface Case {
  readonly name: string;
  readonly input: ExplainInput;
  readonly state: ExplanationState;
  readonly cause: CauseCode;
  /** A part of the sentence. */
  readonly says: string;
  /** Further causes among what it waits for. */
  readonly also?: readonly CauseCode[];
}

const recreate: Shape = { spec: { strategy: { type: 'Recreate' } } };

const CASES: readonly Case[] = [
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
    says: 'a node sent back pod web-new-a: OutOfcpu (Node did not have',
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
    says: 'ReplicaSet web-new: its key is parked since 60 s after 15 retries: exceeded quota',
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
    says: 'a node sent back',
    also: ['rejection-backoff'],
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
    name: 'a ReplicaSet that cannot be created',
    input: {
      deployment: deployment({
        conditions: [progressing('ReplicaSetCreateError', 'Failed to create: forbidden')],
      }),
      replicaSets: [],
      pods: [],
      nowMs: NOW_MS,
    },
    state: 'blocked',
    cause: 'replicaset-create-error',
    says: 'Failed to create: forbidden',
  },
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
    says: 'the new ReplicaSet stays at 1: 5 pods are asked for and maxSurge 1 allows 5',
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
    says: 'a revision that is not kept (Unable to find the revision to rollback to.)',
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
    says: 'parked since 5 s after 15 retries; next try in 540 s: the API said no',
  },
  {
    name: 'a sync that fails and is tried again',
    input: { ...stuckOn({ phase: 'Pending' }), queue: { retry: { failures: 3, dueMs: NOW_MS + 4000 } } },
    state: 'progressing',
    cause: 'retrying',
    says: 'its sync failed 3 times in a row; next try in 4 s',
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
    says: 'dependents first: 1 ReplicaSets and 4 pods are left',
  },
  {
    name: 'a deletion that a finalizer holds',
    input: done({ metadata: { deletionTimestamp: secondsAgo(1), finalizers: ['example.com/backup'] } }),
    state: 'deleting',
    cause: 'deleting',
    says: 'finalizers example.com/backup hold it',
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

describe('why a rollout is where it is', () => {
  it.each(CASES)('names the cause: $name', ({ also = [], cause, input, says, state }) => {
    const explanation = explainDeployment(input);
    expect(explanation).toMatchObject({ state, cause });
    expect(explanation.sentence).toContain(says);
    expect(explanation.waitsFor.map((finding) => finding.cause)).toEqual(expect.arrayContaining([...also]));
    const settled = state === 'complete' || state === 'scaled-to-zero';
    if (!settled) expect(explanation.unblockedBy.length).toBeGreaterThan(0);
    expect(renderExplanation(explanation)).toContain(explanation.sentence);
  });

  it('says how a parked ReplicaSet is brought back, and only notes an old one', () => {
    const parked = { error: 'exceeded quota', retries: 15, parkedAtMs: NOW_MS };
    const { unblockedBy, waitsFor } = explainDeployment({
      ...stuckOn(ready()),
      replicaSetQueues: new Map([
        ['web-new', { parked }],
        ['web-old', { parked }],
      ]),
    });
    const command = 'rollkeeper queue unpark replicaset default/web-';
    expect(unblockedBy).toContainEqual(expect.stringContaining(`${command}new`));
    expect(unblockedBy).not.toContainEqual(expect.stringContaining(`${command}old`));
    expect(waitsFor.filter(({ cause }) => cause === 'parked').map(({ severity }) => severity)).toEqual([
      'blocked',
      'note',
    ]);
  });

  it('does the sums behind each size', () => {
    const { limits, replicaSets } = explainDeployment(stuckOn(waiting('ImagePullBackOff')));
    expect(limits).toMatchObject({ floor: 4, ceiling: 5, maxSurge: 1, maxUnavailable: 0 });
    expect(replicaSets).toMatchObject([
      {
        name: 'web-new',
        role: 'new',
        revision: 2,
        size: 1,
        nextSize: 1,
        because: ['ceiling: 4 + maxSurge 1 = 5', 'room to grow: 5 - 5 asked for in all = 0'],
      },
      {
        name: 'web-old',
        role: 'old',
        revision: 1,
        because: [
          'floor: 4 - maxUnavailable 0 = 4 available',
          'room to shrink: 5 asked for in all - floor 4 - 1 new ones not available = 0',
        ],
      },
    ]);
  });

  it('says when the deadline passes', () => {
    const explanation = explainDeployment(stuckOn({ phase: 'Pending' }));
    expect(explanation.deadline).toEqual({ seconds: 600, exceeded: false, remainingSeconds: 500 });
    expect(renderExplanation(explanation)).toContain('the deadline of 600 s passes in 500 s');
  });

  it('once it has passed, says why with the words that the condition has', () => {
    const exceeded = { conditions: [progressing('ProgressDeadlineExceeded')] };
    const { waitsFor } = explainDeployment(stuckOn(waiting('ImagePullBackOff', 'no such image'), exceeded));
    const { summary } = waitsFor.find(({ cause }) => cause === 'deadline-exceeded') ?? {};
    expect(summary).toContain('600 (1 of 1 new pods: ImagePullBackOff (no such image)): the rollout is');
  });

  it('changes none of what it is given', () => {
    const input = stuckOn(waiting('CrashLoopBackOff'));
    const before = structuredClone(input);
    explainDeployment(input);
    expect(input).toEqual(before);
  });
});
