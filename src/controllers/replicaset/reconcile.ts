import type {
  Decided,
  EventRecorder,
  Lister,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
  SyncSteps,
} from '@rollkeeper/runtime';
import { isConflict, noteCachesRead, untyped } from '@rollkeeper/runtime';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type {
  DeepReadonly,
  LabelMatcher,
  ReplicaSet,
  ReplicaSetStatus,
  KubernetesObject,
} from '@rollkeeper/machinery/kubernetes';
import {
  compileLabelSelector,
  isEmptySelector,
  isPodReady,
  writableCopy,
} from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ClaimedPods } from './claim-pods.js';
import { claimPods, findPods } from './claim-pods.js';
import type { DecidedPods, Situation } from './decide-pods.js';
import { decidePods, desiredReplicas } from './decide-pods.js';
import type { FailureSeries } from './failure-series.js';
import { decideFailureSeries } from './failure-series.js';
import type { ManageResult, PodManagerDependencies } from './manage-pods.js';
import { PodManager } from './manage-pods.js';
import type { ReplicatedKind } from './replicated-kind.js';
import { REPLICA_SET_KIND, asOwner } from './replicated-kind.js';
import { countAttributes, decideFailedPods, decideMarks, failedPodsRule } from '../shared/index.js';
import type { FollowUp, ManageFailure } from './status.js';
import { decideFollowUp } from './status.js';

/** Delay after a status conflict: long enough for the cache to show the winner. */
const CONFLICT_REQUEUE_MS = 20;

interface ReplicaSetReconcilerDependencies extends PodManagerDependencies {
  readonly logger: Logger;
}

type Context = Pick<ReconcileContext, 'client' | 'events' | 'intents' | 'signal'>;

/** A ReplicaSet with its pods. */
export interface SeenReplicaSet {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly claimed: ClaimedPods;
  /** Absent where it is being deleted, and its pods are left to the garbage collector. */
  readonly situation?: Situation;
}

export interface PlannedPods extends Pick<SeenReplicaSet, 'claimed' | 'replicaSet'> {
  /** Absent: the number of pods is left as it is. */
  readonly pods?: DecidedPods;
}

/** The objects that the status follows from. */
interface Followed extends Pick<SeenReplicaSet, 'claimed' | 'replicaSet'> {
  readonly pods?: Pick<DecidedPods, 'failures'>;
}

/**
 * One sync of a ReplicaSet: claim pods, move their number to `spec.replicas`, write the status once if it changed. For
 * a ReplicaSet being deleted, only the status is updated.
 */
export class ReplicaSetReconciler implements SyncSteps<SeenReplicaSet, PlannedPods, Context> {
  private readonly podManager: PodManager;
  private readonly replicaSets: Lister<ReplicaSet>;
  private readonly clock: Clock;
  /** Servers before 1.33 drop the field; its value must not make every status look new then. */
  private serverKeepsTerminatingReplicas: boolean;
  private readonly replicated: ReplicatedKind;

  constructor(private readonly deps: ReplicaSetReconcilerDependencies) {
    this.podManager = new PodManager(deps);
    this.replicaSets = deps.replicaSets;
    this.clock = deps.clock;
    this.replicated = deps.replicated ?? REPLICA_SET_KIND;
    this.serverKeepsTerminatingReplicas = this.replicated.countsTerminating;
  }

  /** Adopts and releases as well: which pods it has must be settled before their number is looked at. */
  async observe(request: ReconcileRequest, context: Context): Promise<SeenReplicaSet | undefined> {
    const replicaSet = this.replicaSets.get(request.key);
    if (!replicaSet) {
      if (context.intents.current !== undefined) context.intents.clear();
      return undefined;
    }
    const selects = selectorOf(replicaSet, context.events);
    if (!selects) return undefined;
    const { client, signal } = context;
    const { replicated } = this;
    const claimed = await claimPods({
      replicaSet,
      replicated,
      selects,
      pods: this.deps.pods,
      client,
      signal,
    });
    noteCachesRead(() => readAttributes(replicaSet, claimed));
    if (replicaSet.metadata.deletionTimestamp !== undefined) {
      this.podManager.forget(replicaSet.metadata.uid ?? '');
      if (context.intents.current !== undefined) context.intents.clear();
      return { replicaSet, claimed };
    }
    return { replicaSet, claimed, situation: await this.podManager.observe(replicaSet, claimed, context) };
  }

  decide({ claimed, replicaSet, situation }: SeenReplicaSet): Decided<PlannedPods> {
    const plan = { replicaSet, claimed };
    if (!situation) return { decision: { branch: 'deletion', summary: '', changes: false }, plan };
    const pods = decidePods(replicaSet, situation, this.deps);
    return { decision: pods.decision, plan: { ...plan, pods } };
  }

  async act({ claimed, pods, replicaSet }: PlannedPods, context: Context): Promise<ReconcileResult> {
    const managed = pods ? await this.podManager.apply(replicaSet, pods, context) : { changedPods: false };
    return this.finish({ replicaSet, claimed, pods }, managed, context);
  }

  /**
   * Whether a sync of the ReplicaSet, as cached, would change a pod, write the status or have something to wait for.
   * "No" means that the status already describes exactly these pods: the sync that wrote it has seen them, and settled
   * any intents with them. Every later change asks again.
   */
  needsSync(key: string): boolean {
    const replicaSet = this.replicaSets.get(key);
    if (!replicaSet || replicaSet.metadata.deletionTimestamp !== undefined) return true;
    const selector = readSelector(replicaSet);
    // Its own sync reports it.
    if ('problem' in selector) return true;
    const { adopt, release, ...claimed } = findPods({ replicaSet, ...selector, pods: this.deps.pods });
    if (adopt.length > 0 || release.length > 0) return true;
    if (claimed.active.length !== desiredReplicas(replicaSet)) return true;
    const failed = decideFailedPods(claimed.controlled, failedPodsRule(replicaSet), this.clock.now());
    if (failed.excess.length > 0 || failed.nextInMs !== undefined) return true;
    if (decideMarks(replicaSet, claimed.active).length > 0) return true;
    const pods = { failures: this.failureSeriesOf(claimed) };
    const { nextAvailableInMs, status } = this.followUp({ replicaSet, claimed, pods });
    return status !== undefined || nextAvailableInMs !== undefined;
  }

  /** As far as the pods show it: one that was stored makes a sync needed at worst. */
  private failureSeriesOf({ controlled }: ClaimedPods): FailureSeries | undefined {
    return decideFailureSeries({ pods: controlled, nowMs: this.clock.now(), options: this.deps.options });
  }

  private followUp({ claimed, pods, replicaSet }: Followed, failure?: ManageFailure): FollowUp {
    const { active, terminating } = claimed;
    return decideFollowUp({
      replicaSet,
      active,
      failures: pods?.failures,
      terminating: this.serverKeepsTerminatingReplicas ? terminating : undefined,
      failure,
      nowMs: this.clock.now(),
    });
  }

  /** Writes the status, and returns when to come back. */
  private async finish(
    planned: PlannedPods,
    { changedPods, failure, requeueAfterMs }: ManageResult,
    context: Context,
  ): Promise<ReconcileResult> {
    context.signal.throwIfAborted();
    const { nextAvailableInMs, status } = this.followUp(planned, failure);
    const mayWait = changedPods && !failure && this.deps.options.statusAfterScaling === 'with-next-sync';
    const statusIn =
      status && !mayWait ? await this.writeStatus(planned.replicaSet, status, context) : undefined;
    if (failure) throw failure.error;
    return requeueIn(requeueAfterMs, statusIn, nextAvailableInMs);
  }

  /** Returns the delay before coming back if the write conflicted, in milliseconds. */
  private async writeStatus(
    replicaSet: DeepReadonly<ReplicaSet>,
    status: ReplicaSetStatus,
    context: Context,
  ): Promise<number | undefined> {
    const { kind, toApi } = this.replicated;
    const body = toApi(writableCopy<ReplicaSet>({ ...asOwner(this.replicated, replicaSet), status }));
    try {
      const written = await context.client.update<KubernetesObject & Pick<ReplicaSet, 'status'>>(
        untyped(kind),
        body,
        {
          subresource: 'status',
          signal: context.signal,
        },
      );
      const { terminatingReplicas } = written.status ?? {};
      if (status.terminatingReplicas !== undefined && terminatingReplicas === undefined) {
        this.serverKeepsTerminatingReplicas = false;
      }
      return undefined;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Another client, usually the Deployment controller, wrote the ReplicaSet in the meantime. This does not count as
      // a failure for the key's backoff: the next sync sees that state and writes one status for both.
      this.deps.logger.debug(`the ${kind.kind} changed under its status`, { key: replicaSet.metadata.name });
      return CONFLICT_REQUEUE_MS;
    }
  }
}

/** The compiled selector; undefined, with a Warning event, if it is unusable. */
function selectorOf(replicaSet: DeepReadonly<ReplicaSet>, events: EventRecorder): LabelMatcher | undefined {
  const selector = readSelector(replicaSet);
  if ('selects' in selector) return selector.selects;
  events.record(replicaSet, {
    type: 'Warning',
    reason: 'InvalidSelector',
    message: `The selector cannot be used: ${selector.problem}`,
  });
  return undefined;
}

function readSelector(
  replicaSet: DeepReadonly<ReplicaSet>,
): { readonly selects: LabelMatcher } | { readonly problem: string } {
  const { selector, template } = replicaSet.spec;
  try {
    if (isEmptySelector(selector)) return { problem: 'an empty selector would select all pods' };
    const selects = compileLabelSelector(selector);
    if (!selects(template?.metadata?.labels))
      return { problem: 'it does not match the labels of the template' };
    return { selects };
  } catch (error) {
    return { problem: errorMessage(error) };
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
    // Before applying the stored intents, which the decision names.
    'rollkeeper.pods.active_in_cache': active.length,
    'rollkeeper.pods.ready': active.filter(isPodReady).length,
    ...countAttributes({ 'rollkeeper.pods.terminating': terminating }),
  };
}
