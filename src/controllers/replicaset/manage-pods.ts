import type { Clock, RandomSource } from '../../base/clock/index.js';
import type { EventRecorder, Lister, SyncContext } from '../../kit/index.js';
import { noSyncObserver } from '../../kit/index.js';
import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { keyOf } from '../../base/kubernetes/index.js';
import { isPodActive } from '../shared/index.js';
import type { ClaimedPods } from './claim-pods.js';
import { createPods } from './create-pods.js';
import { describeDecision } from './describe-decision.js';
import { decidePodCount } from './decide-pod-count.js';
import { PodControl } from './pod-control.js';
import type { DeleteIntent, PodIntents } from './pod-intents.js';
import { decideFromIntents, isEmptyIntents, parsePodIntents } from './pod-intents.js';
import { choosePodNames } from './pod-name.js';
import { podsToDelete } from './pods-to-delete.js';
import { decideRejectionBackoff } from './rejection-backoff.js';
import { relatedPods } from './related-pods.js';
import type { CompiledReplicaSetControllerOptions } from './replicaset.options.js';
import type { ManageFailure } from './status.js';
import { FAILED_DELETE } from './status.js';

type ReadablePod = DeepReadonly<Pod>;

/** Bound on what is kept for ReplicaSets that went away unseen; losing it costs a few requests. */
const MAX_CONFIRMED = 10_000;

export interface PodManagerDependencies {
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly options: CompiledReplicaSetControllerOptions;
}

export interface ManageResult {
  /** Pods were created or deleted, so that their events will cause another sync. */
  readonly changedPods: boolean;
  readonly failure?: ManageFailure;
  /** Creations are held back; look again after this long. */
  readonly requeueAfterMs?: number;
}

/** What the API server and the cache say together, once stored intents are accounted for. */
interface Situation {
  readonly intents: PodIntents;
  readonly active: readonly ReadablePod[];
  readonly recreate: readonly string[];
  readonly pendingDeletes: readonly DeleteIntent[];
  /** Created, by the API server's word, but not in the cache. */
  readonly unseen: readonly string[];
  /** Stored names that turned out not to exist: the first to be used again. */
  readonly freeNames: readonly string[];
  /** The API server's word changed what was stored. */
  readonly corrected: boolean;
}

interface Plan {
  readonly creates: readonly string[];
  /** Those of them that nobody can have tried before. */
  readonly fresh: ReadonlySet<string>;
  readonly deletes: readonly DeleteIntent[];
  readonly intents: PodIntents;
  readonly mustStore: boolean;
}

/**
 * Brings the number of pods to `spec.replicas`: settles what earlier syncs may have done, decides, stores the
 * intents, acts. Any line may be the last that runs; the next sync, on any replica, continues from the intents.
 */
export class PodManager {
  /** Deletions that the server confirmed to this process, by ReplicaSet UID: saves asking it again. */
  private readonly confirmed = new Map<string, Set<string>>();

  constructor(private readonly deps: PodManagerDependencies) {}

  async manage(
    replicaSet: DeepReadonly<ReplicaSet>,
    claimed: ClaimedPods,
    context: SyncContext,
  ): Promise<ManageResult> {
    const { events, options, clock } = this.deps;
    const control = new PodControl(replicaSet, context.client, events, context.signal);
    const situation = await this.settle(replicaSet, claimed, context, control);
    const missing = desiredReplicas(replicaSet) - situation.active.length - situation.recreate.length;
    const backoff = decideRejectionBackoff({
      pods: claimed.controlled,
      missing,
      nowMs: clock.now(),
      options,
    });
    if (backoff) {
      events.record(replicaSet, {
        type: 'Warning',
        reason: 'PodRejectionBackOff',
        message: `Nodes rejected ${backoff.rejections} pods since the last one that ran (${backoff.reason}); waiting ${backoff.delayMs / 1000}s before creating more`,
      });
    }
    const { observer = noSyncObserver } = context;
    const plan = observer.decide(
      () => this.decide(replicaSet, situation, { holdCreations: backoff !== undefined }),
      (decided) => describeDecision(replicaSet, { ...situation, ...decided, heldBack: !!backoff }),
    );
    if (isEmptyIntents(plan.intents)) {
      if (context.intents.current !== undefined) context.intents.clear();
    } else if (plan.mustStore) {
      await context.intents.store(plan.intents);
    }
    const result = await this.apply(replicaSet, plan, context, control);
    return backoff ? { ...result, requeueAfterMs: backoff.remainingMs } : result;
  }

  /** Forgets what was only kept for a ReplicaSet that is gone. */
  forget(replicaSetUid: string): void {
    this.confirmed.delete(replicaSetUid);
  }

  /** Lays the stored intents over the cache, and asks the API server about those that are not wanted any more. */
  private async settle(
    replicaSet: DeepReadonly<ReplicaSet>,
    claimed: ClaimedPods,
    context: SyncContext,
    control: PodControl,
  ): Promise<Situation> {
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
    const { probeCreates, probeDeletes } = decision;
    const found = await Promise.all(probeCreates.map((name) => control.lookUp(name)));
    const doomed = await Promise.all(probeDeletes.map(({ name }) => control.lookUp(name)));
    const spared = new Set(
      doomed
        .filter((pod, index) => pod?.metadata.uid === probeDeletes[index]?.uid && isActive(pod))
        .map(uidOf),
    );
    const existing = found.filter((pod) => pod !== undefined);
    return {
      intents,
      active: [
        ...decision.active,
        ...existing.filter((pod) => isPodActive(pod)),
        ...claimed.active.filter((pod) => spared.has(uidOf(pod))),
      ],
      recreate: decision.recreate,
      // A deletion found done stays pending until the cache shows it, or its pod would be counted again.
      pendingDeletes: decision.pendingDeletes.filter(({ uid }) => !spared.has(uid)),
      unseen: existing.map((pod) => pod.metadata.name),
      freeNames: probeCreates.filter((_, index) => found[index] === undefined),
      corrected: probeCreates.length + probeDeletes.length > 0,
    };
  }

  private decide(
    replicaSet: DeepReadonly<ReplicaSet>,
    situation: Situation,
    { holdCreations }: { holdCreations: boolean },
  ): Plan {
    const { active, recreate, pendingDeletes, unseen, freeNames } = situation;
    const count = decidePodCount({
      active: active.length + recreate.length,
      desired: desiredReplicas(replicaSet),
      burst: this.deps.options.burstReplicas,
    });
    const newNames = this.newNames(replicaSet, holdCreations ? 0 : count.create, freeNames);
    const victims = this.victims(replicaSet, active, count.delete);
    const creates = [...recreate, ...newNames];
    const deletes = [...pendingDeletes, ...victims];
    return {
      creates,
      fresh: new Set(newNames),
      deletes,
      intents: { ...situation.intents, creates: [...unseen, ...creates], deletes },
      mustStore: newNames.length > 0 || victims.length > 0 || situation.corrected,
    };
  }

  private newNames(
    replicaSet: DeepReadonly<ReplicaSet>,
    count: number,
    freeNames: readonly string[],
    alsoTaken: ReadonlySet<string> = new Set(),
  ): string[] {
    const { name: replicaSetName, namespace } = replicaSet.metadata;
    const reused = freeNames.slice(0, count);
    const isTaken = (name: string): boolean =>
      reused.includes(name) ||
      alsoTaken.has(name) ||
      this.deps.pods.get(keyOf({ namespace, name })) !== undefined;
    const { random } = this.deps;
    return [...reused, ...choosePodNames({ replicaSetName, count: count - reused.length, isTaken, random })];
  }

  private victims(
    replicaSet: DeepReadonly<ReplicaSet>,
    active: readonly ReadablePod[],
    count: number,
  ): DeleteIntent[] {
    if (count === 0) return [];
    const { replicaSets, pods, clock } = this.deps;
    const related = relatedPods(replicaSet, replicaSets, pods);
    return podsToDelete({ pods: active, related, count, nowMs: clock.now() }).map((pod) => ({
      uid: uidOf(pod),
      name: pod.metadata.name,
    }));
  }

  private async apply(
    replicaSet: DeepReadonly<ReplicaSet>,
    plan: Plan,
    context: SyncContext,
    control: PodControl,
  ): Promise<ManageResult> {
    const confirmed = this.confirmed.get(plan.intents.ownerUid) ?? new Set<string>();
    const toDelete = plan.deletes.filter(({ uid }) => !confirmed.has(uid));
    if (plan.creates.length === 0 && toDelete.length === 0) return { changedPods: false };
    const creations = await createPods({
      names: plan.creates,
      fresh: plan.fresh,
      intents: plan.intents,
      control,
      context,
      otherNames: (count, taken) => this.newNames(replicaSet, count, [], taken),
    });
    const deletions = await Promise.all(toDelete.map((pod) => control.tryDelete(pod)));
    context.signal.throwIfAborted();

    for (const { kind, pod } of deletions) {
      if (kind === 'deleted' || kind === 'gone') this.confirm(plan.intents.ownerUid, pod.uid);
    }
    const refused = new Set(deletions.filter(({ kind }) => kind === 'refused').map(({ pod }) => pod.uid));
    await keepOnlyOpenIntents(context, creations.intents, {
      creates: creations.intents.creates.filter((name) => !creations.dropped.has(name)),
      deletes: creations.intents.deletes.filter(({ uid }) => !refused.has(uid)),
    });
    const failedDelete = deletions.find(({ kind }) => kind === 'refused' || kind === 'unknown');
    const failure =
      creations.failure ??
      (failedDelete && 'error' in failedDelete
        ? { reason: FAILED_DELETE, error: failedDelete.error }
        : undefined);
    const changedPods = creations.created > 0 || deletions.some(({ kind }) => kind === 'deleted');
    return failure ? { changedPods, failure } : { changedPods };
  }

  private confirm(ownerUid: string, podUid: string): void {
    const uids = this.confirmed.get(ownerUid) ?? new Set();
    if (this.confirmed.size >= MAX_CONFIRMED) this.confirmed.clear();
    this.confirmed.set(ownerUid, uids.add(podUid));
  }

  private forgetSettledDeletes(ownerUid: string, pending: readonly DeleteIntent[]): void {
    const uids = this.confirmed.get(ownerUid);
    if (!uids) return;
    const open = new Set(pending.map(({ uid }) => uid));
    for (const uid of uids) if (!open.has(uid)) uids.delete(uid);
    if (uids.size === 0) this.confirmed.delete(ownerUid);
  }
}

/** Rewrites the stored intents after failures only; without any they stay until the cache shows the pods. */
async function keepOnlyOpenIntents(
  context: SyncContext,
  stored: PodIntents,
  open: Pick<PodIntents, 'creates' | 'deletes'>,
): Promise<void> {
  const unchanged =
    open.creates.length === stored.creates.length && open.deletes.length === stored.deletes.length;
  if (unchanged) return;
  const rest = { ...stored, ...open };
  if (isEmptyIntents(rest)) context.intents.clear();
  else await context.intents.store(rest);
}

function desiredReplicas(replicaSet: DeepReadonly<ReplicaSet>): number {
  return replicaSet.spec.replicas ?? 1;
}

function uidOf(pod: ReadablePod | undefined): string {
  return pod?.metadata.uid ?? '';
}

function isActive(pod: ReadablePod | undefined): boolean {
  return pod !== undefined && isPodActive(pod);
}
