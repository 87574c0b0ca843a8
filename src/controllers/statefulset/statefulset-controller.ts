import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import { PersistentVolumeClaim, Pod, StatefulSet, own, updateStatus } from '@rollkeeper/runtime';
import type { Revisions } from '../revisions/revision-history.js';
import { REVISION_INDEXES, syncRevisions, truncateRevisions } from '../revisions/revision-history.js';
import { templateOf } from '../revisions/decide-revisions.js';
import type { OwnPods } from '../shared/index.js';
import {
  ControllerRevision,
  WHOLE_PODS,
  claimOwnPods,
  clusterController,
  ownPodIndexes,
  slowStartBatch,
  watchFreedRoom,
  watchOrphans,
} from '../shared/index.js';
import type { ReplicaDecision, ReplicaStep, SetView } from './decide-replicas.js';
import { decideReplicas } from './decide-replicas.js';
import type { ReadableSet } from './identity.js';
import { isMember, revisionOf } from './identity.js';
import { ReplicaControl } from './replica-control.js';

/** A set only adopts pods with one of its names. */
const OWN_PODS: OwnPods<StatefulSet> = { kind: StatefulSet, mayOwn: isMember };
const REVISIONS = { kind: StatefulSet, hashLabel: 'controller.kubernetes.io/hash' };

type Sync = ReconcileContext<StatefulSet>;

/**
 * Maintains the pods of StatefulSets, each with its own name and storage, in order. Source: k/k
 * pkg/controller/statefulset.
 */
export const statefulSetController = clusterController<StatefulSet>({
  name: 'statefulset',
  for: StatefulSet,
  // Needed for the claims that a pod has mounted.
  trims: WHOLE_PODS,
  owns: [own(Pod, { selected: true }), own(ControllerRevision, { selected: true })],
  reads: [PersistentVolumeClaim],
  indexes: [...ownPodIndexes(OWN_PODS), ...REVISION_INDEXES],
  watches: [
    watchOrphans(OWN_PODS),
    watchFreedRoom(StatefulSet, ({ spec, status }) => (status?.replicas ?? 0) < (spec.replicas ?? 1)),
  ],
  async reconcile(_request, sync) {
    return sync.object ? syncSet(sync.object, sync) : {};
  },
});

async function syncSet(set: ReadableSet, sync: Sync): Promise<ReconcileResult> {
  const revisions = await syncRevisions(REVISIONS, set, sync);
  const pods = await claimOwnPods(OWN_PODS, set, sync);
  const current = revisions.all.find(({ metadata }) => metadata.name === set.status?.currentRevision);
  const claims = sync.lister(PersistentVolumeClaim);
  const view: SetView = {
    set,
    pods,
    claimOf: (name) => claims.get(`${set.metadata.namespace}/${name}`),
    currentRevision: (current ?? revisions.update).metadata.name,
    updateRevision: revisions.update.metadata.name,
    nowMs: sync.clock.now(),
  };
  const decision = decideReplicas(view);
  const failure = await takeSteps(set, decision, revisions, sync);
  await updateStatus(sync.client, StatefulSet, set, statusOf(view, decision, revisions.collisionCount));
  const inUse = new Set([view.currentRevision, view.updateRevision, ...pods.map(revisionOf)]);
  await truncateRevisions(set, revisions.all, ({ metadata }) => inUse.has(metadata.name), sync);
  if (failure) throw failure.error;
  return decision.recheckMs === undefined ? {} : { requeueAfterMs: Math.ceil(decision.recheckMs) };
}

interface Failure {
  readonly error: unknown;
}

/** Executes the phases in order, up to the first one with a failure. Returns that failure. */
async function takeSteps(
  set: ReadableSet,
  { isOrdered, phases }: ReplicaDecision,
  { all, update }: Revisions,
  sync: Sync,
): Promise<Failure | undefined> {
  const templateOfRevision = (revision: string) =>
    templateOf(all.find(({ metadata }) => metadata.name === revision) ?? update) ?? set.spec.template;
  const control = new ReplicaControl(set, templateOfRevision, sync);
  const take = (step: ReplicaStep): Promise<Failure | undefined> =>
    control.take(step).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  for (const steps of phases) {
    const failure = isOrdered ? await inOrder(steps, take) : await allAtOnce(steps, take);
    if (failure) return failure;
  }
  return undefined;
}

async function inOrder<Step>(
  steps: readonly Step[],
  take: (step: Step) => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  for (const step of steps) {
    const failure = await take(step);
    if (failure) return failure;
  }
  return undefined;
}

async function allAtOnce<Step>(
  steps: readonly Step[],
  take: (step: Step) => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  const { outcomes } = await slowStartBatch(steps, take, (failure) => failure !== undefined);
  return outcomes.find((failure) => failure !== undefined);
}

/**
 * A rollout is complete when every replica has its revision and is ready: from then on it is the current one. Counts
 * that the genuine type omits at 0 are omitted, to avoid status writes for them.
 */
function statusOf(
  { currentRevision, set, updateRevision }: SetView,
  { counts }: ReplicaDecision,
  collisionCount: number,
): DeepReadonly<NonNullable<StatefulSet['status']>> {
  const { availableReplicas, currentReplicas, readyReplicas, replicas, updatedReplicas } = counts;
  const wanted = set.spec.replicas ?? 1;
  const isUpdated =
    set.spec.updateStrategy?.type === 'RollingUpdate' &&
    [updatedReplicas, replicas, readyReplicas].every((count) => count === wanted);
  const current = isUpdated ? updatedReplicas : currentReplicas;
  return {
    replicas,
    availableReplicas,
    ...(readyReplicas > 0 && { readyReplicas }),
    ...(current > 0 && { currentReplicas: current }),
    ...(updatedReplicas > 0 && { updatedReplicas }),
    currentRevision: isUpdated ? updateRevision : currentRevision,
    updateRevision,
    observedGeneration: set.metadata.generation ?? 0,
    collisionCount,
  };
}
