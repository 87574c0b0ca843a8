import type {
  Deployment,
  DeploymentCondition,
  Pod,
  ReplicaSet,
} from '../../../machinery/kubernetes/index.js';
import type { ExplainInput } from './explain-input.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { expect, it } from 'vitest';
import { explainDeployment } from './explain-deployment.js';
import type { CauseCode, ExplanationState } from './explanation.js';
import { renderExplanation } from './render-explanation.js';

export const NOW_MS = Date.UTC(2026, 0, 1, 12);
export const secondsAgo = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString();

interface Sizes {
  readonly size: number;
  readonly available?: number;
  readonly replicas?: number;
  readonly conditions?: NonNullable<ReplicaSet['status']>['conditions'];
  readonly generation?: number;
}

/** A ReplicaSet of `default/web` with the Deployment's template (`app:2`) or an older one (`app:1`). */
export function aReplicaSet(name: string, of: Deployment, image: string, sizes: Sizes): ReplicaSet {
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

export function aPodOf(
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

export const ready = (sinceSeconds = 60): PodStatus => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: secondsAgo(sinceSeconds) }],
});

export const waiting = (reason: string, message = 'as the kubelet says'): PodStatus => ({
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

export const progressing = (reason: string, message = reason): DeploymentCondition => ({
  type: 'Progressing',
  status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
  reason,
  message,
  lastUpdateTime: secondsAgo(100),
  lastTransitionTime: secondsAgo(100),
});

export interface Shape {
  readonly spec?: Partial<Deployment['spec']>;
  readonly metadata?: Partial<Deployment['metadata']>;
  readonly conditions?: DeploymentCondition[];
  readonly observedGeneration?: number;
}

/** 4 replicas, surge 1, none may be unavailable, in the middle of app:1 → app:2. */
export function deployment({ conditions, metadata, observedGeneration = 1, spec }: Shape = {}): Deployment {
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

/** The new ReplicaSet has one pod with this status, and the four old ones are available. */
export function stuckOn(
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
export function done(shape: Shape = {}, replicas = 4): ExplainInput {
  const web = deployment({
    conditions: [progressing('NewReplicaSetAvailable')],
    ...shape,
    spec: { replicas, ...shape.spec },
  });
  const fresh = aReplicaSet('new', web, 'app:2', { size: replicas, available: replicas });
  const pods = Array.from({ length: replicas }, (_, index) => aPodOf(fresh, `web-new-${index}`, ready()));
  return { deployment: web, replicaSets: [fresh], pods, nowMs: NOW_MS };
}

/** Only the ReplicaSets' status is known, no pods. */
export function withSizes(sizes: { readonly old?: Sizes; readonly new?: Sizes }): ExplainInput {
  const web = deployment();
  const replicaSets = [
    ...(sizes.old ? [aReplicaSet('old', web, 'app:1', sizes.old)] : []),
    ...(sizes.new ? [aReplicaSet('new', web, 'app:2', sizes.new)] : []),
  ];
  return { deployment: web, replicaSets, pods: [], nowMs: NOW_MS };
}

export interface StuckCase {
  readonly name: string;
  readonly input: ExplainInput;
  readonly state: ExplanationState;
  readonly cause: CauseCode;
  /** A part of the sentence. */
  readonly says: string;
  /** Further causes in what it waits for. */
  readonly also?: readonly CauseCode[];
}

/** One test per case: the explanation names state and cause, says so in its sentence, and what would help. */
export function itNamesTheCauseOf(cases: readonly StuckCase[]): void {
  it.each(cases)('names the cause: $name', ({ also = [], cause, input, says, state }) => {
    const explanation = explainDeployment(input);
    expect(explanation).toMatchObject({ state, cause });
    expect(explanation.sentence).toContain(says);
    expect(explanation.waitsFor.map((finding) => finding.cause)).toEqual(expect.arrayContaining([...also]));
    const settled = state === 'complete' || state === 'scaled-to-zero';
    if (!settled) expect(explanation.unblockedBy.length).toBeGreaterThan(0);
    expect(renderExplanation(explanation)).toContain(explanation.sentence);
  });
}
