import type {
  EventRecorder,
  Lister,
  ReconcileRequest,
  SyncContext,
  SyncReconciler,
  SyncStep,
} from '@rollkeeper/runtime';
import { isNamespaceTerminating, noteCachesRead } from '@rollkeeper/runtime';
import { TerminalError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isEmptySelector } from '@rollkeeper/machinery/kubernetes';
import { counted } from '../shared/index.js';
import { applyPlan } from './apply.js';
import { claimReplicaSets, recheckBeforeAdoption } from './claim-replica-sets.js';
import type { DecidedPass, ObservedPass, PassDependencies } from './decide-pass.js';
import { decidePass, isEmptyPass } from './decide-pass.js';
import { typeOfDeployment } from './deployment-api.js';
import { invalidDeploymentNote, selectingAllNote } from './events.js';
import { recheckOldPods } from './recheck-old-pods.js';
import { validateDeployment } from './limits.js';

export interface DeploymentReconcilerDependencies extends PassDependencies {
  readonly deployments: Lister<Deployment>;
  /** With ORPHAN_INDEX. */
  readonly replicaSets: Lister<ReplicaSet>;
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

  async reconcile({ key }: ReconcileRequest, context: SyncContext): Promise<SyncStep> {
    const seen = this.look(key);
    if (seen.as === 'gone') return {};
    if (seen.as === 'selects-all') return this.refuseToSelectAll(seen.deployment, context);
    if (seen.as === 'invalid') throw this.refuseInvalid(seen.deployment, seen.problem);
    const { claims, deployment } = seen;
    noteCachesRead(() => readAttributes(seen));
    if (claims.adopt.length > 0) await recheckBeforeAdoption(deployment, context.client, context.signal);
    return {
      decide: () => {
        const pass = decidePass(seen, this.dependencies);
        return { decision: pass.decision, apply: () => this.apply(deployment, pass, context) };
      },
    };
  }

  /**
   * Whether a pass over the Deployment, as the caches show it, would write, tell or wait for anything: decides it without
   * carrying it out, which costs a tenth of a sync. Every later change asks for itself, so "no" loses nothing.
   */
  needsSync(key: string): boolean {
    const seen = this.look(key);
    return seen.as !== 'valid' || !isEmptyPass(decidePass(seen, this.dependencies));
  }

  private look(key: string): SeenDeployment {
    const { deployments, replicaSets } = this.dependencies;
    const deployment = deployments.get(key);
    if (!deployment) return { as: 'gone' };
    if (isEmptySelector(deployment.spec.selector)) return { as: 'selects-all', deployment };
    const validation = validateDeployment(deployment);
    if (!validation.valid) return { as: 'invalid', deployment, problem: validation.problem };
    const claims = claimReplicaSets(deployment, validation.selects, replicaSets);
    return { as: 'valid', deployment, claims };
  }

  private async apply(
    deployment: DeepReadonly<Deployment>,
    { mustHaveEnded, now, plan, recheckAfterMs }: DecidedPass,
    { client, signal }: SyncContext,
  ): Promise<SyncStep> {
    const { events, rules } = this.dependencies;
    await recheckOldPods(deployment, mustHaveEnded, client, signal);
    try {
      const outcome = await applyPlan(deployment, plan, { client, signal, events, now, rules });
      return { requeueAfterMs: outcome === 'collision' ? AFTER_COLLISION_MS : recheckAfterMs };
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
  ): Promise<SyncStep> {
    this.dependencies.events.record(deployment, selectingAllNote());
    const { generation = 0 } = deployment.metadata;
    if ((deployment.status?.observedGeneration ?? 0) < generation) {
      const status = { ...deployment.status, observedGeneration: generation };
      const object = { ...deployment, status } as Deployment;
      await client.update(typeOfDeployment(deployment), object, { subresource: 'status', signal });
    }
    return {};
  }

  private refuseInvalid(deployment: DeepReadonly<Deployment>, problem: string): TerminalError {
    this.dependencies.events.record(deployment, invalidDeploymentNote(problem));
    const { namespace, name } = deployment.metadata;
    return new TerminalError(`Deployment ${namespace}/${name} cannot be acted on: ${problem}`);
  }
}

/** What the caches show under a key. */
type SeenDeployment =
  | { readonly as: 'gone' }
  | { readonly as: 'selects-all'; readonly deployment: DeepReadonly<Deployment> }
  | { readonly as: 'invalid'; readonly deployment: DeepReadonly<Deployment>; readonly problem: string }
  | ({ readonly as: 'valid' } & ObservedPass);

function readAttributes({ claims, deployment }: ObservedPass): Record<string, string | number> {
  return {
    'k8s.resource': 'replicasets.apps',
    'k8s.resource_version': deployment.metadata.resourceVersion ?? '',
    'rollkeeper.replica_sets.owned': claims.owned.length,
    ...counted({
      'rollkeeper.replica_sets.adopted': claims.adopt,
      'rollkeeper.replica_sets.released': claims.release,
    }),
  };
}
