import type { DeepReadonly, DeploymentStatus } from '@rollkeeper/machinery/kubernetes';
import type { StatefulSet } from '@rollkeeper/runtime';
import type { SetRollout } from './as-rollout.js';
import { asRollout } from './as-rollout.js';
import { HELD } from './decide-partition.js';
import type { DaemonSetParts } from './daemon-set-view.js';
import { viewDaemonSet } from './daemon-set-view.js';
import { isFirstSeen } from './kept-state.js';
import type { StatefulSetParts } from './stateful-set-view.js';
import { partitionOf, viewStatefulSet } from './stateful-set-view.js';

/** The rollout of a StatefulSet, for people. Of one that is under no policy it shows what its own controller counts. */
export function statefulSetRollout(parts: StatefulSetParts, nowMs: number): SetRollout {
  const rollout = asRollout(viewStatefulSet(parts, nowMs));
  const { set } = parts;
  if (!isFirstSeen(set.metadata)) return rollout;
  return { ...rollout, deployment: { ...rollout.deployment, status: countsOf(set) } };
}

function countsOf({ status }: DeepReadonly<StatefulSet>): DeepReadonly<DeploymentStatus> {
  const { availableReplicas, observedGeneration, readyReplicas, replicas, updatedReplicas } = status ?? {};
  return { availableReplicas, observedGeneration, readyReplicas, replicas, updatedReplicas };
}

/** The rollout of a DaemonSet, for people; see {@link statefulSetRollout}. */
export function daemonSetRollout(parts: DaemonSetParts, nowMs: number): SetRollout {
  const rollout = asRollout(viewDaemonSet(parts, nowMs));
  const { metadata, status } = parts.set;
  if (!isFirstSeen(metadata)) return rollout;
  const counts = {
    observedGeneration: status?.observedGeneration,
    replicas: status?.currentNumberScheduled,
    updatedReplicas: status?.updatedNumberScheduled,
    readyReplicas: status?.numberReady,
    availableReplicas: status?.numberAvailable,
  };
  return { ...rollout, deployment: { ...rollout.deployment, status: counts } };
}

/** Whether a change of the template would wait until the controller of rollouts has seen it. */
export function isHeldAtRest(set: DeepReadonly<StatefulSet>): boolean {
  const { currentRevision, updateRevision } = set.status ?? {};
  return currentRevision !== updateRevision || partitionOf(set) === HELD;
}
