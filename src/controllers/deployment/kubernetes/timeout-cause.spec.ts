import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../../machinery/clock/index.js';
import type {
  DeepReadonly,
  Deployment,
  DeploymentCondition,
  Pod,
  ReplicaSet,
} from '../../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { aPod } from '../../../testing/pod-builder.js';
import { decideRollout } from '../decide-rollout.js';
import { playSyncs } from './sync-deployment.js';
import { OWN_RULES } from './rollout-rules.js';
import { RolloutDraft } from './draft.js';
import { netPlan } from './plan.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const LONG_AGO = toRfc3339(NOW_MS - 3_600_000);
const SENTENCE = 'ReplicaSet "web-new" has timed out progressing.';
const seed = Number(process.env.SEED ?? randomInt(2 ** 31 - 1));

type Conditions = NonNullable<ReplicaSet['status']>['conditions'];

interface World {
  readonly pods?: readonly Pod[];
  /** The conditions of the new ReplicaSet. */
  readonly conditions?: Conditions;
  /** The condition of the Deployment before. @default still progressing, the deadline long exceeded */
  readonly progressing?: Partial<DeploymentCondition>;
  /** Pods in the new ReplicaSet's status. @default 3 */
  readonly replicas?: number;
  /** Pods in the Deployment's status. @default the same */
  readonly told?: number;
  /** The image of the Deployment; the ReplicaSet's is always `app:1`. @default app:1 */
  readonly image?: string;
  readonly paused?: boolean;
}

/** `default/web` of 3, none of them available, all of them new. */
function draftOf({
  conditions,
  image,
  paused,
  progressing,
  replicas = 3,
  told = replicas,
}: World): RolloutDraft {
  const deployment = aDeployment({ replicas: 3, image, spec: { ...(paused ? { paused } : {}) } });
  deployment.metadata.annotations = { 'deployment.kubernetes.io/revision': '1' };
  deployment.status = {
    observedGeneration: 1,
    replicas: told,
    updatedReplicas: told,
    unavailableReplicas: 3,
    conditions: [
      {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
        lastUpdateTime: LONG_AGO,
        lastTransitionTime: LONG_AGO,
      },
      {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        message: 'ReplicaSet "web-new" is progressing.',
        lastUpdateTime: LONG_AGO,
        lastTransitionTime: LONG_AGO,
        ...progressing,
      },
    ],
  };
  const owned = [newReplicaSet(deployment, replicas, conditions)];
  return new RolloutDraft({ deployment, owned, adopted: [], now: toRfc3339(NOW_MS), nowMs: NOW_MS });
}

function newReplicaSet(deployment: Deployment, replicas: number, conditions: Conditions): ReplicaSet {
  const annotations = {
    'deployment.kubernetes.io/revision': '1',
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-new',
      uid: 'uid-of-web-new',
      generation: 1,
      annotations,
      ownerReferences: [newControllerRef(deployment)],
    },
    spec: {
      replicas: 3,
      selector: deployment.spec.selector,
      template: aDeployment({ image: 'app:1' }).spec.template,
    },
    status: { replicas, observedGeneration: 1, conditions },
  };
}

function decide(world: World): RolloutDraft {
  const draft = draftOf(world);
  decideRollout(draft, contextOf(world));
  return draft;
}

function contextOf({ pods = [] }: World): Parameters<typeof decideRollout>[1] {
  return { podsOf: () => pods, rules: OWN_RULES };
}

const progressingOf = ({ status }: RolloutDraft): DeepReadonly<DeploymentCondition> | undefined =>
  status.conditions?.find(({ type }) => type === 'Progressing');
const messageOf = (draft: RolloutDraft): string => progressingOf(draft)?.message ?? '';

function waiting(name: string, reason: string, message?: string): Pod {
  const pod = aPod({ name, phase: 'Pending', node: 'node-1' });
  const container = { name: 'web', ready: false, restartCount: 0, image: 'app:2', imageID: '' };
  const containerStatuses = [{ ...container, state: { waiting: { reason, message } } }];
  return { ...pod, status: { ...pod.status, containerStatuses } };
}

function starting(name: string): Pod {
  return aPod({ name, phase: 'Pending', node: 'node-1' });
}

const quota: Conditions = [
  {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'pods "web-new-x" is forbidden: exceeded quota: small',
  },
];
const dying: Conditions = [
  { type: 'PodFailureBackOff', status: 'True', message: '4 pods died before they were ready' },
];
const exceeded = (message: string): Partial<DeploymentCondition> => ({
  status: 'False',
  reason: 'ProgressDeadlineExceeded',
  message,
});

describe('the message of a deadline that has passed', () => {
  const pull = 'ImagePullBackOff';
  const rows: readonly { name: string; world: World; adds: string }[] = [
    {
      name: 'counts the pods and repeats what the kubelet says of the first by name',
      world: { pods: [waiting('c', pull, 'other'), starting('b'), waiting('a', pull, 'Back-off "web:2"')] },
      adds: ' 2 of 3 new pods: ImagePullBackOff (Back-off "web:2").',
    },
    {
      name: 'names first what a person should look at first',
      world: {
        pods: [waiting('a', 'CrashLoopBackOff', 'back-off 10s'), waiting('b', pull, 'Back-off "web:2"')],
      },
      adds: ' 1 of 2 new pods: ImagePullBackOff (Back-off "web:2").',
    },
    {
      name: 'leaves out pods that are about to go',
      world: { pods: [waiting('a', pull, 'm'), aPod({ name: 'b', deletedAt: toRfc3339(NOW_MS) })] },
      adds: ' 1 of 1 new pods: ImagePullBackOff (m).',
    },
    {
      name: 'says that pods may not be created before it says anything of those that were',
      world: { replicas: 1, conditions: quota, pods: [waiting('a', pull, 'm')] },
      adds: ' 2 of 3 new pods: FailedCreate (pods "web-new-x" is forbidden: exceeded quota: small).',
    },
    {
      name: 'says nothing of a refusal where no pod is missing',
      world: { replicas: 3, conditions: quota, pods: [starting('a')] },
      adds: '',
    },
    {
      name: 'says that pods die, where none of them is left to be asked',
      world: { replicas: 0, conditions: dying },
      adds: ' 4 pods died before they were ready.',
    },
    {
      name: 'is in one line and of bounded length, whatever a kubelet writes',
      world: { pods: [waiting('a', pull, `rpc\nerror: ${'x'.repeat(499)}🙂${'y'.repeat(30_000)}`)] },
      // 511 UTF-16 units would end in the middle of the emoji.
      adds: ` 1 of 1 new pods: ImagePullBackOff (rpc error: ${'x'.repeat(499)}…).`,
    },
    {
      name: 'is Kubernetes’ own where pods are merely starting',
      world: { pods: [starting('a'), starting('b')] },
      adds: '',
    },
    { name: 'is Kubernetes’ own where nothing is known', world: {}, adds: '' },
  ];

  it.each(rows)('$name', ({ adds, world }) => {
    expect(messageOf(decide(world))).toBe(`${SENTENCE}${adds}`);
  });

  it('says nothing of the cause before the deadline has passed', () => {
    const soon = { lastUpdateTime: toRfc3339(NOW_MS - 1000) };
    const draft = decide({ progressing: soon, pods: [waiting('a', pull, 'm')] });
    expect(messageOf(draft)).toBe('ReplicaSet "web-new" is progressing.');
  });
});

describe('once the deadline has been reported', () => {
  const told = `${SENTENCE} 3 of 3 new pods: ErrImagePull (old).`;

  it('another cause alone is no reason to write', () => {
    const draft = decide({ progressing: exceeded(told), pods: [waiting('a', 'CrashLoopBackOff', 'new')] });
    expect(messageOf(draft)).toBe(told);
    expect(netPlan(draft, [])).toMatchObject({ replicaSetWrites: [], notes: [] });
    expect(netPlan(draft, []).status).toBeUndefined();
  });

  it('a status that is written for another reason names the current cause', () => {
    const pods = [waiting('a', 'CrashLoopBackOff', 'new')];
    const draft = decide({ progressing: exceeded(told), pods, replicas: 2, told: 3 });
    expect(progressingOf(draft)).toEqual({
      ...draft.observed.status?.conditions?.[1],
      message: `${SENTENCE} 1 of 1 new pods: CrashLoopBackOff (new).`,
    });
    expect(netPlan(draft, []).status).toBeDefined();
  });

  it('and no cause where none is left', () => {
    const draft = decide({ progressing: exceeded(told), pods: [starting('a')], replicas: 2, told: 3 });
    expect(messageOf(draft)).toBe(SENTENCE);
  });

  it('Kubernetes’ report of another ReplicaSet is not gone on with', () => {
    const message = 'ReplicaSet "web-older" has timed out progressing.';
    const pods = [waiting('a', 'ErrImagePull', 'm')];
    const draft = decide({ progressing: exceeded(message), pods, replicas: 2, told: 3 });
    expect(messageOf(draft)).toBe(message);
  });

  it('words that are not Kubernetes’ stay', () => {
    const progressing = exceeded('somebody else says so');
    const draft = decide({ progressing, pods: [waiting('a', 'ErrImagePull', 'm')], replicas: 2, told: 3 });
    expect(messageOf(draft)).toBe('somebody else says so');
  });
});

/*
 * For any pods, conditions and rollout state: a pass with causes equals Kubernetes' pass except for the end of one
 * message, and writes exactly when that one does.
 */
describe(`telling the cause (SEED=${seed})`, () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 500, maxLength: 3000 }));
  const pod = fc
    .record({
      name: fc.constantFrom('a', 'b', 'c'),
      reason: fc.constantFrom('ErrImagePull', 'ImagePullBackOff', 'CrashLoopBackOff', 'ContainerCreating'),
      message: fc.option(text, { nil: undefined }),
    })
    .map(({ message, name, reason }) => waiting(name, reason, message));
  const world: fc.Arbitrary<World> = fc.record({
    pods: fc.array(pod, { maxLength: 5 }),
    conditions: fc.constantFrom(undefined, quota),
    progressing: fc.record({
      status: fc.constantFrom('True', 'False'),
      reason: fc.constantFrom('ReplicaSetUpdated', 'ProgressDeadlineExceeded', 'NewReplicaSetAvailable'),
      message: fc.constantFrom(SENTENCE, `${SENTENCE} 1 of 1 new pods: Old.`, 'another', undefined),
      lastUpdateTime: fc.constantFrom(LONG_AGO, toRfc3339(NOW_MS)),
    }),
    replicas: fc.integer({ min: 0, max: 4 }),
    told: fc.integer({ min: 0, max: 4 }),
    image: fc.constantFrom('app:1', 'app:2'),
    paused: fc.boolean(),
  });

  it('changes nothing but the end of the message, and makes no write', () => {
    const causes = { some: 0 };
    fc.assert(
      fc.property(world, (drawn) => {
        const genuine = draftOf(drawn);
        playSyncs(genuine, contextOf(drawn));
        const told = decide(drawn);
        const [plain, ours] = [netPlan(genuine, []), netPlan(told, [])];
        expect(ours.status === undefined).toBe(plain.status === undefined);
        expect(withoutMessage(ours)).toEqual(withoutMessage(plain));
        const [before, after] = [messageOf(genuine), messageOf(told)];
        if (after === before) return;
        causes.some++;
        expect(ours.status).toBeDefined();
        expect(after.startsWith(SENTENCE) && before.startsWith(SENTENCE)).toBe(true);
        expect(after.length).toBeLessThan(SENTENCE.length + 640);
        expect(after).not.toMatch(/\n/);
        expect(after.isWellFormed()).toBe(true);
      }),
      { seed, numRuns: 500 },
    );
    expect(causes.some).toBeGreaterThan(0);
  });
});

/** A copy of a plan with every message of a Progressing condition empty. */
function withoutMessage(plan: ReturnType<typeof netPlan>): unknown {
  const copy = structuredClone(plan) as { status?: Deployment; deployment?: Deployment };
  for (const object of [copy.status, copy.deployment]) {
    for (const condition of object?.status?.conditions ?? [])
      if (condition.type === 'Progressing') condition.message = '';
  }
  return copy;
}
