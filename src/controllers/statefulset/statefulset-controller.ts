import { errorMessage } from '../../base/errors/index.js';
import { keyOf } from '../../base/kubernetes/index.js';
import type { DeepReadonly } from '../../base/kubernetes/index.js';
import type { ReconcileContext, ReconcileResult } from '../../kit/index.js';
import {
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  isAlreadyExists,
  isNotFound,
  updateStatus,
} from '../../kit/index.js';
import type { Revisions } from '../revisions/revision-history.js';
import { REVISION_INDEXES, syncRevisions, truncateRevisions } from '../revisions/revision-history.js';
import { templateOf } from '../revisions/decide-revisions.js';
import type { OwnPods, PodWords } from '../shared/index.js';
import {
  ControllerRevision,
  PodControl,
  claimOwnPods,
  clusterController,
  failuresOf,
  isMade,
  ownPodIndexes,
  slowStartBatch,
  watchOrphans,
} from '../shared/index.js';
import { decideClaimOwners, isStale } from './decide-claim-owners.js';
import type { ReplicaDecision, SetView } from './decide-replicas.js';
import { decideReplicas } from './decide-replicas.js';
import type { ReadablePod, ReadableSet } from './identity.js';
import { ordinalOf, podName, replicaClaims, replicaPod, revisionOf } from './identity.js';

/** A set takes what has one of its names alone. */
const OWN_PODS: OwnPods<StatefulSet> = {
  kind: StatefulSet,
  mayOwn: (set, pod) => ordinalOf(set, pod) !== undefined,
};
const REVISIONS = { kind: StatefulSet, hashLabel: 'controller.kubernetes.io/hash' };

type Sync = ReconcileContext<StatefulSet>;

/**
 * Keeps the pods of StatefulSets, each with a name and storage of its own, in their order.
 * Source: k/k pkg/controller/statefulset.
 */
export const statefulSetController = clusterController<StatefulSet>({
  name: 'statefulset',
  for: StatefulSet,
  owns: [Pod, ControllerRevision],
  reads: [PersistentVolumeClaim],
  indexes: [...ownPodIndexes(OWN_PODS), ...REVISION_INDEXES],
  watches: [watchOrphans(OWN_PODS)],
  async reconcile(_request, sync) {
    const { object: set } = sync;
    // What there is of it goes with it.
    return set && set.metadata.deletionTimestamp === undefined ? new StatefulSetSync(set, sync).run() : {};
  },
});

class StatefulSetSync {
  private readonly control: PodControl;
  private readonly failures: unknown[] = [];

  constructor(
    private readonly set: ReadableSet,
    private readonly sync: Sync,
  ) {
    const words: PodWords = (verb, pod, error) =>
      `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} ${error === undefined ? 'successful' : `failed error: ${error}`}`;
    this.control = new PodControl(set, { ...sync, words });
  }

  async run(): Promise<ReconcileResult> {
    const { set, sync } = this;
    const revisions = await syncRevisions(REVISIONS, set, sync);
    const pods = await claimOwnPods(OWN_PODS, set, sync);
    const current = revisions.all.find(({ metadata }) => metadata.name === set.status?.currentRevision);
    const view: SetView = {
      set,
      pods,
      currentRevision: (current ?? revisions.update).metadata.name,
      updateRevision: revisions.update.metadata.name,
      nowMs: sync.clock.now(),
    };
    const decision = decideReplicas(view);
    await this.apply(view, decision, revisions);
    await updateStatus(sync.client, StatefulSet, set, statusOf(view, decision, revisions.collisionCount));
    const inUse = new Set([view.currentRevision, view.updateRevision, ...pods.map(revisionOf)]);
    await truncateRevisions(set, revisions.all, ({ metadata }) => inUse.has(metadata.name), sync);
    if (this.failures.length > 0) throw this.failures[0];
    return decision.recheckMs === undefined ? {} : { requeueAfterMs: Math.ceil(decision.recheckMs) };
  }

  private async apply(view: SetView, decision: ReplicaDecision, revisions: Revisions): Promise<void> {
    await this.keepClaims(view.pods, decision);
    for (const { metadata } of decision.ended) {
      const { name, namespace } = this.set.metadata;
      const message = `StatefulSet ${namespace}/${name} is recreating failed Pod ${metadata.name}`;
      this.sync.events.record(this.set, { type: 'Warning', reason: 'RecreatingFailedPod', message });
    }
    await Promise.all(decision.delete.map((pod) => this.deletePod(pod)));
    const { untried } = await slowStartBatch(
      decision.create,
      (place) => this.createReplica(place, revisions),
      (isThere) => !isThere,
    );
    if (untried.length > 0)
      this.sync.logger.debug('replicas are left for later', { untried: untried.length });
  }

  private async deletePod({ metadata }: ReadablePod): Promise<void> {
    const outcome = await this.control.tryDelete({ name: metadata.name, uid: metadata.uid ?? '' });
    this.failures.push(...failuresOf([outcome]));
  }

  /** Its claims first: they outlive it. Returns whether the pod is there. */
  private async createReplica(
    { ordinal, revision }: ReplicaDecision['create'][number],
    { all, update }: Revisions,
  ): Promise<boolean> {
    const { set } = this;
    const source = all.find(({ metadata }) => metadata.name === revision) ?? update;
    const template = templateOf(source) ?? set.spec.template;
    try {
      await this.makeClaims(ordinal);
    } catch (error) {
      this.failures.push(error);
      return false;
    }
    const outcome = await this.control.tryCreate(replicaPod({ set, ordinal, template, revision }));
    this.failures.push(...failuresOf([outcome]));
    return isMade(outcome);
  }

  /** @throws also where one that is there must go first */
  private async makeClaims(ordinal: number): Promise<void> {
    const { set, sync } = this;
    for (const claim of replicaClaims(set, ordinal)) {
      const found = sync.lister(PersistentVolumeClaim).get(keyOf(claim.metadata));
      if (found && isStale(found, set))
        throw new Error(`claim ${claim.metadata.name} is still being deleted`);
      if (found) continue;
      const about = `Claim ${claim.metadata.name} Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
      try {
        await sync.client.create(PersistentVolumeClaim, claim);
        sync.events.record(set, {
          type: 'Normal',
          reason: 'SuccessfulCreate',
          message: `create ${about} success`,
        });
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        const message = `create ${about} failed error: ${errorMessage(error)}`;
        sync.events.record(set, { type: 'Warning', reason: 'FailedCreate', message });
        throw error;
      }
    }
  }

  /** Who the claims go with, by the retention policy. */
  private async keepClaims(pods: readonly ReadablePod[], { condemned }: ReplicaDecision): Promise<void> {
    const { client, lister } = this.sync;
    for (const pod of pods)
      for (const { metadata } of replicaClaims(this.set, ordinalOf(this.set, pod) ?? 0)) {
        const claim = lister(PersistentVolumeClaim).get(keyOf(metadata));
        const isCondemned = condemned.includes(pod);
        const owners = claim && decideClaimOwners(claim, this.set, pod, { isCondemned });
        if (!owners) continue;
        const { name, namespace, resourceVersion, uid } = claim.metadata;
        const body = { metadata: { uid, resourceVersion, ownerReferences: owners } };
        await client
          .patch(PersistentVolumeClaim, { name, namespace }, { type: 'merge', body })
          .catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
      }
  }
}

/** A rollout has come to its end when every replica is of its revision and ready: from then on it is the current one. */
function statusOf(
  { currentRevision, set, updateRevision }: SetView,
  { counts }: ReplicaDecision,
  collisionCount: number,
): DeepReadonly<NonNullable<StatefulSet['status']>> {
  const { updatedReplicas = 0 } = counts;
  const wanted = set.spec.replicas ?? 1;
  const isUpdated =
    set.spec.updateStrategy?.type === 'RollingUpdate' &&
    [updatedReplicas, counts.replicas, counts.readyReplicas].every((count) => count === wanted);
  return {
    ...counts,
    ...(isUpdated && { currentReplicas: updatedReplicas }),
    currentRevision: isUpdated ? updateRevision : currentRevision,
    updateRevision,
    observedGeneration: set.metadata.generation ?? 0,
    collisionCount,
  };
}
