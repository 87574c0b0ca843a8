import type {
  EventRecorder,
  Lister,
  ReconcileRequest,
  ReconcileResult,
  SyncContext,
  SyncReconciler,
} from '../../kit/index.js';
import { isConflict, noSyncObserver } from '../../kit/index.js';
import type { Clock } from '../../base/clock/index.js';
import { errorMessage } from '../../base/errors/index.js';
import type { DeepReadonly, LabelMatcher, ReplicaSet } from '../../base/kubernetes/index.js';
import { REPLICA_SETS, compileLabelSelector, isEmptySelector } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { ClaimedPods } from './claim-pods.js';
import { claimPods } from './claim-pods.js';
import type { ManageResult, PodManagerDependencies } from './manage-pods.js';
import { PodManager } from './manage-pods.js';
import { counted, isPodReady } from '../shared/index.js';
import { msUntilNextAvailable } from './next-available.js';
import { decideStatus, isSameStatus } from './status.js';

/** After a lost race for the status: long enough for the cache to see who won. */
const CONFLICT_REQUEUE_MS = 20;

export interface ReplicaSetReconcilerDependencies extends PodManagerDependencies {
  readonly logger: Logger;
}

/**
 * One sync of a ReplicaSet: claim pods, bring their number to `spec.replicas`, write the status once if it
 * changed. A ReplicaSet that is being deleted only has its status kept.
 */
export class ReplicaSetReconciler implements SyncReconciler {
  private readonly podManager: PodManager;
  private readonly replicaSets: Lister<ReplicaSet>;
  private readonly clock: Clock;
  private readonly events: EventRecorder;
  /** Servers before 1.33 drop the field; then its value must not make every status look new. */
  private serverKeepsTerminatingReplicas = true;

  constructor(private readonly deps: ReplicaSetReconcilerDependencies) {
    this.podManager = new PodManager(deps);
    this.replicaSets = deps.replicaSets;
    this.clock = deps.clock;
    this.events = deps.events;
  }

  async reconcile(request: ReconcileRequest, context: SyncContext): Promise<ReconcileResult> {
    const replicaSet = this.replicaSets.get(request.key);
    if (!replicaSet) {
      if (context.intents.current !== undefined) context.intents.clear();
      return {};
    }
    const selects = this.selectorOf(replicaSet);
    if (!selects) return {};
    const { client, signal } = context;
    const claimed = await claimPods({ replicaSet, selects, pods: this.deps.pods, client, signal });
    const { observer = noSyncObserver } = context;
    observer.found(() => readAttributes(replicaSet, claimed));
    const managed = await this.managePods(replicaSet, claimed, context);
    signal.throwIfAborted();
    // One instant for both: a pod that the status does not count as available yet must wake us, also if it becomes
    // available while the status is being written.
    const nowMs = this.clock.now();
    const nextAvailableIn = msUntilNextAvailable(replicaSet, claimed.active, nowMs);
    const statusIn = await this.syncStatus(replicaSet, claimed, managed, context, nowMs);
    if (managed.failure) throw managed.failure.error;
    return requeueIn(managed.requeueAfterMs, statusIn, nextAvailableIn);
  }

  /** The compiled selector; undefined, with a Warning event, where there is none to work with. */
  private selectorOf(replicaSet: DeepReadonly<ReplicaSet>): LabelMatcher | undefined {
    const { selector, template } = replicaSet.spec;
    try {
      if (isEmptySelector(selector)) throw new Error('an empty selector would select all pods');
      const selects = compileLabelSelector(selector);
      if (!selects(template?.metadata?.labels))
        throw new Error('it does not match the labels of the template');
      return selects;
    } catch (error) {
      this.events.record(replicaSet, {
        type: 'Warning',
        reason: 'InvalidSelector',
        message: `The selector cannot be used: ${errorMessage(error)}`,
      });
      return undefined;
    }
  }

  private async managePods(
    replicaSet: DeepReadonly<ReplicaSet>,
    claimed: ClaimedPods,
    context: SyncContext,
  ): Promise<ManageResult> {
    if (replicaSet.metadata.deletionTimestamp === undefined) {
      return this.podManager.manage(replicaSet, claimed, context);
    }
    this.podManager.forget(replicaSet.metadata.uid ?? '');
    if (context.intents.current !== undefined) context.intents.clear();
    return { changedPods: false };
  }

  /** Returns after how many milliseconds to come back, if the write lost a race. */
  private async syncStatus(
    replicaSet: DeepReadonly<ReplicaSet>,
    claimed: ClaimedPods,
    managed: ManageResult,
    context: SyncContext,
    nowMs: number,
  ): Promise<number | undefined> {
    const mayWait = managed.changedPods && !managed.failure;
    if (mayWait && this.deps.options.statusAfterScaling === 'with-next-sync') return undefined;
    const { active, terminating } = claimed;
    const status = decideStatus({
      replicaSet,
      active,
      terminating: this.serverKeepsTerminatingReplicas ? terminating : [],
      failure: managed.failure,
      nowMs,
    });
    if (isSameStatus(replicaSet.status, status)) return undefined;
    const body = structuredClone({ ...replicaSet, apiVersion: 'apps/v1', kind: 'ReplicaSet', status });
    try {
      const written = await context.client.update<ReplicaSet>(REPLICA_SETS, body as ReplicaSet, {
        subresource: 'status',
        signal: context.signal,
      });
      if (status.terminatingReplicas && written.status?.terminatingReplicas === undefined) {
        this.serverKeepsTerminatingReplicas = false;
      }
      return undefined;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Somebody, most often the Deployment controller, wrote the ReplicaSet meanwhile. Not a failure that
      // should be charged to the key's backoff: the next sync sees that state and writes one status for both.
      this.deps.logger.debug('the ReplicaSet changed under its status', { key: replicaSet.metadata.name });
      return CONFLICT_REQUEUE_MS;
    }
  }
}

function requeueIn(...waits: readonly (number | undefined)[]): ReconcileResult {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? { requeueAfterMs: Math.ceil(Math.min(...known)) } : {};
}

function readAttributes(
  replicaSet: DeepReadonly<ReplicaSet>,
  { active, controlled, terminating }: ClaimedPods,
): Record<string, string | number> {
  return {
    'k8s.resource': 'pods',
    'k8s.resource_version': replicaSet.metadata.resourceVersion ?? '',
    'rollkeeper.pods.controlled': controlled.length,
    // Before what the stored intents make of them, which the decision names.
    'rollkeeper.pods.active_in_cache': active.length,
    'rollkeeper.pods.ready': active.filter(isPodReady).length,
    ...counted({ 'rollkeeper.pods.terminating': terminating }),
  };
}
