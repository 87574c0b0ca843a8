import type {
  EventRecorder,
  ReconcileRequest,
  ReconcileResult,
  SyncContext,
  SyncReconciler,
} from '../../kit/index.js';
import { isNamespaceTerminating, noSyncObserver } from '../../kit/index.js';
import { TerminalError } from '../../base/errors/index.js';
import type { DeepReadonly, Deployment } from '../../base/kubernetes/index.js';
import { DEPLOYMENTS, isEmptySelector } from '../../base/kubernetes/index.js';
import { counted } from '../shared/index.js';
import { applyPlan } from './apply.js';
import type { ReplicaSetClaims } from './claim-replica-sets.js';
import { claimReplicaSets, recheckBeforeAdoption } from './claim-replica-sets.js';
import type { PassDependencies } from './decide-pass.js';
import { decidePass, draftPass } from './decide-pass.js';
import { describeDecision } from './describe-decision.js';
import { invalidDeploymentNote, selectingAllNote } from './events.js';
import { progressCheckAfterMs } from './progress.js';
import { recheckOldPods } from './recheck-old-pods.js';
import { validateDeployment } from './validate.js';

export interface DeploymentReconcilerDependencies extends PassDependencies {
  readonly events: EventRecorder;
}

/** Soon enough for the user, late enough for the cache to show the counted collision. */
const AFTER_COLLISION_MS = 5;

/**
 * Brings one Deployment as far as it can get until pods come or go: reads the caches, decides the whole pass purely,
 * then writes the difference. Costs what the Deployment's own objects cost, whatever else the namespace holds.
 */
export class DeploymentReconciler implements SyncReconciler {
  constructor(private readonly dependencies: DeploymentReconcilerDependencies) {}

  async reconcile(request: ReconcileRequest, context: SyncContext): Promise<ReconcileResult> {
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
      ...counted({
        'rollkeeper.replica_sets.adopted': claims.adopt,
        'rollkeeper.replica_sets.released': claims.release,
      }),
    }));
    if (claims.adopt.length > 0) await recheckBeforeAdoption(deployment, context.client, context.signal);
    return this.rollOut(deployment, claims, context);
  }

  private async rollOut(
    deployment: DeepReadonly<Deployment>,
    claims: ReplicaSetClaims,
    { client, observer = noSyncObserver, signal }: SyncContext,
  ): Promise<ReconcileResult> {
    const { events } = this.dependencies;
    const draft = draftPass(deployment, claims, this.dependencies);
    const plan = observer.decide(
      () => decidePass(draft, claims, this.dependencies),
      (decided) => describeDecision(draft, decided),
    );
    await recheckOldPods(draft, client, signal);
    try {
      const outcome = await applyPlan(deployment, plan, {
        client,
        signal,
        events,
        now: draft.now,
      });
      return { requeueAfterMs: outcome === 'collision' ? AFTER_COLLISION_MS : progressCheckAfterMs(draft) };
    } catch (error) {
      // Everything in the namespace is about to go; trying again would only fail again.
      if (isNamespaceTerminating(error)) return {};
      throw error;
    }
  }

  /** An empty selector would take every pod of the namespace: nothing is done until somebody changes it. */
  private async refuseToSelectAll(
    deployment: DeepReadonly<Deployment>,
    { client, signal }: SyncContext,
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
