import { isNamespaceTerminating } from '../../api-client/api-status-error.js';
import type { Clock } from '../../clock/index.js';
import { toRfc3339 } from '../../clock/index.js';
import type {
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
  Reconciler,
} from '../../controller/reconciler.js';
import { noSyncObserver } from '../../controller/decision.js';
import { TerminalError } from '../../errors/index.js';
import type { EventRecorder } from '../../events/event-recorder.js';
import type { Lister } from '../../informer/informer.js';
import { OWNER_UID_INDEX } from '../../informer/informer.js';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '../../kubernetes/index.js';
import { DEPLOYMENTS, isEmptySelector } from '../../kubernetes/index.js';
import { applyPlan } from './apply.js';
import type { ReplicaSetClaims } from './claim-replica-sets.js';
import { claimReplicaSets, recheckBeforeAdoption } from './claim-replica-sets.js';
import { decideRollout } from './decide.js';
import { describeDecision } from './describe-decision.js';
import { RolloutDraft } from './draft.js';
import { invalidDeploymentNote, selectingAllNote } from './events.js';
import { netPlan } from './plan.js';
import { progressCheckAfterMs } from './progress.js';
import { recheckOldPods } from './recheck-old-pods.js';
import type { RolloutRules } from './rollout-rules.js';
import { validateDeployment } from './validate.js';

export interface DeploymentReconcilerDependencies {
  readonly deployments: Lister<Deployment>;
  /** With ORPHAN_INDEX. */
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly rules: RolloutRules;
}

/** Soon enough for the user, late enough for the cache to show the counted collision. */
const AFTER_COLLISION_MS = 5;

/**
 * Brings one Deployment as far as it can get until pods come or go: reads the caches, decides the whole pass purely,
 * then writes the difference. Costs what the Deployment's own objects cost, whatever else the namespace holds.
 */
export class DeploymentReconciler implements Reconciler {
  constructor(private readonly dependencies: DeploymentReconcilerDependencies) {}

  async reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult> {
    const deployment = this.dependencies.deployments.get(request.key);
    if (!deployment) return {};
    if (isEmptySelector(deployment.spec.selector)) return this.refuseToSelectAll(deployment, context);
    const validation = validateDeployment(deployment);
    if (!validation.valid) throw this.refuseInvalid(deployment, validation.problem);
    const { observer = noSyncObserver } = context;
    const claims = claimReplicaSets(deployment, validation.selects, this.dependencies.replicaSets);
    observer.found(() => ({
      'k8s.resource': 'replicasets.apps',
      'k8s.resource_version': deployment.metadata.resourceVersion ?? '',
      'rollkeeper.replica_sets.owned': claims.owned.length,
      'rollkeeper.replica_sets.adopted': claims.adopt.length,
      'rollkeeper.replica_sets.released': claims.release.length,
    }));
    if (claims.adopt.length > 0) await recheckBeforeAdoption(deployment, context.client, context.signal);
    return this.rollOut(deployment, claims, context);
  }

  private async rollOut(
    deployment: DeepReadonly<Deployment>,
    claims: ReplicaSetClaims,
    { client, observer = noSyncObserver, signal }: ReconcileContext,
  ): Promise<ReconcileResult> {
    const { clock, events, rules } = this.dependencies;
    const nowMs = clock.now();
    const now = toRfc3339(nowMs);
    const draft = new RolloutDraft({ deployment, owned: claims.owned, adopted: claims.adopt, now, nowMs });
    const plan = observer.decide(
      () => {
        decideRollout(draft, { podsOf: ({ observed }) => this.podsOf(observed), rules });
        return netPlan(draft, claims.release);
      },
      (decided) => describeDecision(draft, decided),
    );
    await recheckOldPods(draft, client, signal);
    try {
      const outcome = await applyPlan(deployment, plan, {
        client,
        signal,
        events,
        now,
      });
      return { requeueAfterMs: outcome === 'collision' ? AFTER_COLLISION_MS : progressCheckAfterMs(draft) };
    } catch (error) {
      // Everything in the namespace is about to go; trying again would only fail again.
      if (isNamespaceTerminating(error)) return {};
      throw error;
    }
  }

  private podsOf(replicaSet: DeepReadonly<ReplicaSet> | undefined): readonly DeepReadonly<Pod>[] {
    const uid = replicaSet?.metadata.uid;
    return uid === undefined ? [] : this.dependencies.pods.byIndex(OWNER_UID_INDEX, uid);
  }

  /** An empty selector would take every pod of the namespace: nothing is done until somebody changes it. */
  private async refuseToSelectAll(
    deployment: DeepReadonly<Deployment>,
    { client, signal }: ReconcileContext,
  ): Promise<ReconcileResult> {
    this.dependencies.events.record(deployment, selectingAllNote());
    const { generation = 0 } = deployment.metadata;
    if ((deployment.status?.observedGeneration ?? 0) < generation) {
      const status = { ...deployment.status, observedGeneration: generation };
      const object = { ...deployment, status } as Deployment;
      await client.update(DEPLOYMENTS, object, { subresource: 'status', signal });
    }
    return {};
  }

  private refuseInvalid(deployment: DeepReadonly<Deployment>, problem: string): TerminalError {
    this.dependencies.events.record(deployment, invalidDeploymentNote(problem));
    const { namespace, name } = deployment.metadata;
    return new TerminalError(`Deployment ${namespace}/${name} cannot be acted on: ${problem}`);
  }
}
