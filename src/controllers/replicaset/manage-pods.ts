import type { Lister, ReconcileContext } from '@rollkeeper/runtime';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Pod, isControlledBy, keyOf } from '@rollkeeper/machinery/kubernetes';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import type { DeleteOutcome, DoomedPod, MarkedPod } from '../shared/index.js';
import {
  FAILED_DELETE,
  POD_FAILURE_BACK_OFF,
  PodControl,
  drainPatch,
  isRefusal,
  keepOldRule,
  mayHaveSessions,
  podOfReplicaSet,
  renderDrainCondition,
} from '../shared/index.js';
import type { ClaimedPods } from './claim-pods.js';
import { createPods } from './create-pods.js';
import type { DecidedPods, PodDecisionDependencies, PodPlan, Situation } from './decide-pods.js';
import { desiredReplicas, newPodNames } from './decide-pods.js';
import type { PodIntents } from './pod-intents.js';
import { decideFromIntents, isEmptyIntents, parsePodIntents } from './pod-intents.js';
import type { ReplicatedKind } from './replicated-kind.js';
import { REPLICA_SET_KIND, asOwner } from './replicated-kind.js';
import { openIntents, shownAt, situationOf } from './resolve-intents.js';
import type { ManageFailure } from './status.js';
import { describeFailures } from './describe-failures.js';
import { counted } from '@rollkeeper/machinery/text';
import { isConflict, isNotFound } from '@rollkeeper/runtime';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';

/** On a ReplicaSet: a pod of it drains in place of being deleted. */
const POD_DRAINS = 'PodDrains';

/**
 * Lets a pod drain in place of deleting it. It returns undefined for a pod that has no sessions, which is deleted.
 * @returns undefined if the pods of this ReplicaSet do not drain
 */
function drainOf(
  replicaSet: DeepReadonly<ReplicaSet>,
  { clock, pods }: { readonly clock: Clock; readonly pods: Lister<Pod> },
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): ((doomed: DoomedPod) => Promise<DeleteOutcome> | undefined) | undefined {
  const rule = keepOldRule(replicaSet);
  if (!rule) return undefined;
  const { namespace } = replicaSet.metadata;
  return (doomed) => {
    const ref = { namespace, name: doomed.name };
    const pod = pods.get(keyOf(ref));
    if (pod?.metadata.uid !== doomed.uid || !isControlledBy(pod, replicaSet) || !mayHaveSessions(pod))
      return undefined;
    const body = drainPatch(pod, replicaSet, rule, clock.now());
    const write = async (): Promise<DeleteOutcome> => {
      try {
        signal.throwIfAborted();
        await client.patch<Pod>(Pod, ref, { type: 'merge', body }, { signal });
      } catch (error) {
        // A conflict is none: the pod was written by others meanwhile, and still runs.
        if (isNotFound(error)) return { kind: 'gone', pod: doomed };
        const message = `Error draining: ${errorMessage(error)}`;
        if (!signal.aborted) events.record(replicaSet, { type: 'Warning', reason: FAILED_DELETE, message });
        return { kind: isRefusal(error) ? 'refused' : 'unknown', pod: doomed, error };
      }
      const message = `Pod ${doomed.name} has left its Service and drains until ${renderDrainCondition(rule.until)}`;
      events.record(replicaSet, { type: 'Normal', reason: POD_DRAINS, message });
      return { kind: 'deleted', pod: doomed };
    };
    return write();
  };
}

/** Concurrent writes of one ReplicaSet. */
const WRITES_AT_ONCE = 16;

/**
 * Changes labels and annotations of live pods, none of which restarts. A pod that was deleted or replaced in the meantime is
 * skipped, and its own event follows; any other error fails the sync, after all writes have ended.
 */
async function markPods(
  replicaSet: DeepReadonly<ReplicaSet>,
  pods: readonly MarkedPod[],
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<void> {
  if (pods.length === 0) return;
  const { namespace } = replicaSet.metadata;
  const writes = new ConcurrencyLimit(WRITES_AT_ONCE);
  const results = await Promise.allSettled(
    pods.map(({ name, patch }) =>
      writes.run(async () => {
        signal.throwIfAborted();
        await client.patch<Pod>(Pod, { namespace, name }, { type: 'merge', body: patch }, { signal });
      }),
    ),
  );
  const marked = results.filter(({ status }) => status === 'fulfilled').length;
  if (marked > 0)
    events.record(replicaSet, {
      type: 'Normal',
      reason: 'PodsMarked',
      message: `Changed labels or annotations of ${counted(marked, 'pod')} in place`,
    });
  for (const result of results)
    if (result.status === 'rejected' && !isNotFound(result.reason) && !isConflict(result.reason))
      throw result.reason;
}

type Context = Pick<ReconcileContext, 'client' | 'events' | 'intents' | 'signal'>;

/** Concurrent reads of pods whose creation or deletion has no answer. */
const READS_AT_ONCE = 16;
/** Limit of state kept for ReplicaSets whose deletion was missed; losing it costs a few requests. */
const MAX_CONFIRMED = 10_000;

export interface PodManagerDependencies extends PodDecisionDependencies {
  /** The version at which no pod existed that is not in the cache; see `Informer.absencesSeen`. */
  readonly podAbsencesSeen: (namespace: string | undefined) => string | undefined;
  /** @default ReplicaSets */
  readonly replicated?: ReplicatedKind;
}

export interface ManageResult {
  /** Pods were created or deleted, so their events will cause another sync. */
  readonly changedPods: boolean;
  readonly failure?: ManageFailure;
  /** Creations are delayed, or a failed pod becomes too old; look again after this time. */
  readonly requeueAfterMs?: number;
}

/**
 * Moves the number of pods to `spec.replicas`: finds out what earlier syncs may have done, decides, stores the intents
 * and acts. Any line may be the last that runs; the next sync, on any replica, continues from the intents.
 */
export class PodManager {
  /** Deletions that the server confirmed to this process, by ReplicaSet UID: avoids asking again. */
  private readonly confirmed = new Map<string, Set<string>>();

  private readonly replicated: ReplicatedKind;

  constructor(private readonly deps: PodManagerDependencies) {
    this.replicated = deps.replicated ?? REPLICA_SET_KIND;
  }

  /** Applies a decision: stores the intents, then acts. */
  async apply(
    replicaSet: DeepReadonly<ReplicaSet>,
    { failures, heldMs, nextRemovalMs, plan }: DecidedPods,
    context: Context,
  ): Promise<ManageResult> {
    if (failures && heldMs !== undefined) {
      context.events.record(replicaSet, {
        type: 'Warning',
        reason: POD_FAILURE_BACK_OFF,
        message: describeFailures(failures),
      });
    }
    if (isEmptyIntents(plan.intents)) {
      if (context.intents.current !== undefined) context.intents.clear();
    } else if (plan.mustStore) {
      await context.intents.store(plan.intents);
    }
    const result = await this.act(replicaSet, plan, context);
    await markPods(replicaSet, plan.marks, context);
    const waits = [heldMs, nextRemovalMs].filter((wait) => wait !== undefined);
    return waits.length === 0 ? result : { ...result, requeueAfterMs: Math.min(...waits) };
  }

  /** Drops state of a deleted ReplicaSet. */
  forget(replicaSetUid: string): void {
    this.confirmed.delete(replicaSetUid);
  }

  /** Applies the stored intents to the cached state, and asks the API server about those no longer wanted. */
  async observe(
    replicaSet: DeepReadonly<ReplicaSet>,
    claimed: ClaimedPods,
    context: Context,
  ): Promise<Situation> {
    const control = this.control(replicaSet, context);
    const { namespace } = replicaSet.metadata;
    const intents = parsePodIntents(context.intents.current, replicaSet.metadata.uid ?? '');
    const decision = decideFromIntents({
      intents,
      desired: desiredReplicas(replicaSet),
      cachedActive: claimed.active,
      cachedPod: (name) => this.deps.pods.get(keyOf({ namespace, name })),
      confirmedDeletes: this.confirmed.get(intents.ownerUid) ?? new Set(),
    });
    this.forgetSettledDeletes(intents.ownerUid, decision.pendingDeletes);
    const { absence, pods } = decision.settledBy;
    const settledAt = (version: string | undefined): void => {
      if (version !== undefined) context.intents.settledAt(Pod, version);
    };
    settledAt(shownAt(pods, absence ? this.deps.podAbsencesSeen(namespace) : undefined));
    const { probeCreates, probeDeletes } = decision;
    const reads = new ConcurrencyLimit(READS_AT_ONCE);
    const lookUp = (name: string): Promise<Pod | undefined> => reads.run(() => control.lookUp(name));
    const created = await Promise.all(probeCreates.map(lookUp));
    const doomed = await Promise.all(probeDeletes.map(({ name }) => lookUp(name)));
    settledAt(shownAt(created));
    return situationOf(claimed, intents, decision, { created, doomed });
  }

  private async act(
    replicaSet: DeepReadonly<ReplicaSet>,
    plan: PodPlan,
    context: Context,
  ): Promise<ManageResult> {
    const confirmed = this.confirmed.get(plan.intents.ownerUid) ?? new Set<string>();
    const toDelete = plan.deletes.filter(({ uid }) => !confirmed.has(uid));
    if (plan.creates.length + toDelete.length + plan.removes.length === 0) return { changedPods: false };
    const control = this.control(replicaSet, context);
    const creations = await createPods({
      names: plan.creates,
      intents: plan.intents,
      control,
      context,
      podOf: (name) => podOfReplicaSet(asOwner(this.replicated, replicaSet), name),
      otherNames: (count, alsoTaken) => newPodNames({ replicaSet, count, alsoTaken }, this.deps),
    });
    const drain = drainOf(replicaSet, this.deps, context);
    const deletions = await Promise.all(toDelete.map((pod) => drain?.(pod) ?? control.tryDelete(pod)));
    const removals = await Promise.all(plan.removes.map((pod) => control.tryDelete(pod)));
    context.signal.throwIfAborted();

    for (const { kind, pod } of deletions) {
      if (kind === 'deleted' || kind === 'gone') this.confirm(plan.intents.ownerUid, pod.uid);
    }
    const refused = deletions.filter(({ kind }) => kind === 'refused').map(({ pod }) => pod);
    const { stored, unanswered } = creations;
    await keepOnlyOpenIntents(context, stored, openIntents(stored, { unanswered, refused }));
    const failedDelete = [...deletions, ...removals].find(
      ({ kind }) => kind === 'refused' || kind === 'unknown',
    );
    const failure =
      creations.failure ??
      (failedDelete && 'error' in failedDelete
        ? { reason: FAILED_DELETE, error: failedDelete.error }
        : undefined);
    const changedPods = creations.created > 0 || deletions.some(({ kind }) => kind === 'deleted');
    return failure ? { changedPods, failure } : { changedPods };
  }

  private control(replicaSet: DeepReadonly<ReplicaSet>, { client, events, signal }: Context): PodControl {
    return new PodControl(asOwner(this.replicated, replicaSet), { client, signal, events });
  }

  private confirm(ownerUid: string, podUid: string): void {
    const uids = this.confirmed.get(ownerUid) ?? new Set();
    if (this.confirmed.size >= MAX_CONFIRMED) this.confirmed.clear();
    this.confirmed.set(ownerUid, uids.add(podUid));
  }

  private forgetSettledDeletes(ownerUid: string, pending: readonly DoomedPod[]): void {
    const uids = this.confirmed.get(ownerUid);
    if (!uids) return;
    const open = new Set(pending.map(({ uid }) => uid));
    for (const uid of uids) if (!open.has(uid)) uids.delete(uid);
    if (uids.size === 0) this.confirmed.delete(ownerUid);
  }
}

/**
 * Drops what was answered: with the release of the key if nothing else is left, so that it costs no write. The versions
 * of the created pods are stored in the same step, and the next sync must have seen them.
 */
async function keepOnlyOpenIntents(context: Context, stored: PodIntents, open: PodIntents): Promise<void> {
  const unchanged =
    open.creates.length === stored.creates.length && open.deletes.length === stored.deletes.length;
  if (unchanged) return;
  if (isEmptyIntents(open)) context.intents.clear();
  else await context.intents.store(open);
}
