import type { Deployment, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../../machinery/kubernetes/index.js';
import { templateHashOf } from '../kubernetes/deployment-api.js';
import type { FailedTemplate } from '../policies/common/failed-templates.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import type { RolloutView } from './rollout-view.js';

export const T0 = Date.UTC(2026, 0, 1);
export const at = (seconds: number): string =>
  new Date(T0 + seconds * 1000).toISOString().replace('.000', '');

export interface Shape {
  readonly reason?: string;
  /** The reason of the condition RolloutPolicy. */
  readonly policyReason?: string;
  readonly message?: string;
  readonly updated?: number;
  readonly total?: number;
  readonly available?: number;
  readonly observed?: number;
  readonly generation?: number;
  readonly annotations?: Record<string, string>;
  readonly ofReplicaSet?: Record<string, string>;
  readonly spec?: Partial<Deployment['spec']>;
  readonly replicas?: number;
  readonly deletedAt?: string;
}

/** Complete since 00:00, unless the shape says otherwise. */
export function aView(shape: Shape = {}): RolloutView {
  const { annotations, available = 5, observed = 2, ofReplicaSet = {}, reason, updated = 5 } = shape;
  const { policyReason } = shape;
  const policy = {
    type: 'RolloutPolicy',
    status: 'False',
    reason: policyReason,
    message: 'check slo failed',
  };
  const plain = aDeployment({
    replicas: shape.replicas ?? 5,
    annotations: { 'deployment.kubernetes.io/revision': '2', ...annotations },
    spec: shape.spec,
  });
  const { total = 5, message = 'as it is', generation = 2, deletedAt } = shape;
  const metadata = { ...plain.metadata, generation, deletionTimestamp: deletedAt };
  const progressing = { type: 'Progressing', status: 'True', reason, message, lastUpdateTime: at(0) };
  const deployment: Deployment = {
    ...plain,
    metadata,
    status: {
      ...{ observedGeneration: observed, updatedReplicas: updated, availableReplicas: available },
      replicas: total,
      conditions: [
        ...(reason === undefined ? [] : [progressing]),
        ...(policyReason === undefined ? [] : [policy]),
      ],
    },
  };
  const sets = [
    ownedSet(plain, { name: 'web-1', revision: '2', size: updated, available, annotations: ofReplicaSet }),
    ...(total > updated
      ? [ownedSet(ofBefore(plain), { name: 'web-0', revision: '1', size: total - updated })]
      : []),
  ];
  return { deployment, replicaSets: sets, pods: [], nowMs: T0 };
}

function ofBefore(deployment: Deployment): Deployment {
  const { containers = [], ...pod } = deployment.spec.template.spec ?? {};
  const spec = { ...pod, containers: containers.map((each) => ({ ...each, image: 'before:1' })) };
  return { ...deployment, spec: { ...deployment.spec, template: { ...deployment.spec.template, spec } } };
}

interface SetShape {
  readonly name: string;
  readonly revision: string;
  readonly size: number;
  /** @default all of them */
  readonly available?: number;
  readonly annotations?: Record<string, string>;
}

function ownedSet(
  deployment: Deployment,
  { available, annotations, name, revision, size }: SetShape,
): ReplicaSet {
  const { selector, template } = deployment.spec;
  const those = Math.min(size, available ?? size);
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-${name.slice(4)}`, generation: 1 },
      annotations: { 'deployment.kubernetes.io/revision': revision, ...annotations },
      ownerReferences: [newControllerRef(deployment)],
    },
    spec: { replicas: size, selector, template },
    status: { replicas: size, readyReplicas: those, availableReplicas: those, observedGeneration: 1 },
  };
}

/** The hash of the template that is asked for. */
const CURRENT = templateHashOf(aDeployment({ replicas: 5 }));
export const FAILURE: FailedTemplate = {
  ...{ template: 'bad', replicaSet: 'web-2', revision: '2', at: at(0), cause: 'no such image' },
  to: { template: CURRENT, replicaSet: 'web-1', revision: '1' },
};
/** The requested template has failed, and what ran before runs again. */
export const FAILED_NOW: FailedTemplate = {
  ...{ ...FAILURE, template: CURRENT, replicaSet: 'web-1' },
  to: { template: 'before', replicaSet: 'web-0', revision: '2' },
};
export const failed = (...failures: readonly FailedTemplate[]) => ({
  'rollkeeper.dev/failed': JSON.stringify(failures),
});
export const BAKED = { 'rollkeeper.dev/bake-time': '10m' };
export const MARKED = { ...BAKED, 'rollkeeper.dev/on-failure': 'rollback' };
export const COMPLETE = { reason: 'NewReplicaSetAvailable' };
