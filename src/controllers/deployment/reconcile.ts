import type {
  ApiClient,
  Decided,
  EventNote,
  Lister,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
  SyncSteps,
} from '@rollkeeper/runtime';
import { isNamespaceTerminating, noteCachesRead } from '@rollkeeper/runtime';
import { StaleCacheError, TerminalError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import {
  Pod,
  asSent,
  controllerOf,
  isEmptySelector,
  isPodFinished,
  keyOf,
} from '@rollkeeper/machinery/kubernetes';
import { countAttributes } from '../shared/index.js';
import { applyPlan } from './apply.js';
import { compilePolicy } from './policies/compile-policy.js';
import { asksForPolicies } from './state/asks-for-policies.js';
import { claimReplicaSets, recheckBeforeAdoption } from './claim-replica-sets.js';
import type { DecidedPass, ObservedPass, PassDependencies } from './decide-pass.js';
import { decidePass, isEmptyPass } from './decide-pass.js';
import type { Annotations } from './kubernetes/annotations.js';
import { selectorEqualities, typeOfDeployment } from './kubernetes/deployment-api.js';
import { invalidDeploymentNote, selectingAllNote } from './kubernetes/events.js';
import { recheckNamedPods } from './policies/remove-pods/remove-pods.js';
import type { CheckMeasuring } from './policies/checks/check-measuring.js';
import { readDefinitions } from './policies/checks/read-definitions.js';
import { mayUseChecks } from './policies/checks/uses-checks.js';
import { readTemplateManager } from './policies/history/managers.js';
import { mayResize, readLivePods } from './policies/resize/live-pods.js';
import { hasRequest, trustInNames } from './policies/common/requester.js';
import { readEndpoints } from './policies/traffic/endpoints.js';
import { maySteer } from './policies/common/steered-services.js';
import type { DeletedDeployment, LeftBehind } from './left-by-deleted.js';
import { ReleaseWaits, describeRelease, hasLeft, observeDeleted, releaseLeft } from './left-by-deleted.js';
import { recheckService } from './policies/blue-green/recheck-service.js';
import { validateDeployment } from './kubernetes/limits.js';

interface DeploymentReconcilerDependencies extends PassDependencies, Pick<LeftBehind, 'kinds'> {
  readonly deployments: Lister<Deployment>;
  /** With ORPHAN_INDEX. */
  readonly replicaSets: Lister<ReplicaSet>;
  /** @default no checks are measured */
  readonly measuring?: CheckMeasuring;
}

/** Soon enough for the user, late enough for the cache to show the countAttributes collision. */
const AFTER_COLLISION_MS = 5;

type Context = Pick<ReconcileContext, 'client' | 'events' | 'signal'>;

/**
 * Advances one Deployment as far as possible until pods come or go: reads the caches, decides the whole pass purely,
 * then writes the difference. Its cost depends on the Deployment's own objects, not on the rest of the namespace.
 */
export class DeploymentReconciler implements SyncSteps<SeenDeployment, PlannedPass, Context> {
  private readonly releaseWaits = new ReleaseWaits();

  constructor(private readonly dependencies: DeploymentReconcilerDependencies) {}

  async observe({ key }: ReconcileRequest, { client, signal }: Context): Promise<SeenDeployment | undefined> {
    const seen = this.look(key);
    if (!seen) return this.observeDeleted(key, { client, signal });
    this.releaseWaits.forget(key);
    if (seen.as !== 'valid') return seen;
    noteCachesRead(() => readAttributes(seen));
    if (seen.claims.adopt.length > 0) await recheckBeforeAdoption(seen.deployment, client, signal);
    const { annotations, namespace = '' } = seen.deployment.metadata;
    const defaults = this.dependencies.defaultsOf?.(namespace);
    return asksForPolicies(annotations, defaults)
      ? this.observeForPolicies(seen, defaults, { client, signal })
      : this.withEndpoints(seen, { client, signal });
  }

  private async observeDeleted(
    key: string,
    context: Pick<Context, 'client' | 'signal'>,
  ): Promise<DeletedDeployment | undefined> {
    const left = await observeDeleted(key, this.dependencies, context);
    if (!left) this.releaseWaits.forget(key);
    return left;
  }

  /** Adds what policies may need beside the caches. */
  private async observeForPolicies(
    seen: ValidDeployment,
    defaults: Annotations | undefined,
    { client, signal }: Pick<Context, 'client' | 'signal'>,
  ): Promise<SeenDeployment> {
    const { deployment } = seen;
    const { pods } = this.dependencies;
    const { namespace } = deployment.metadata;
    const isCached = (name: string): boolean => pods.get(keyOf({ namespace, name })) !== undefined;
    await recheckNamedPods(deployment, isCached, client, signal);
    const keepsHistory = (): boolean => {
      const compiled = compilePolicy(deployment.metadata.annotations, defaults);
      return compiled.kind !== 'none' && compiled.policy.history;
    };
    const templateManager = await readTemplateManager(deployment, keepsHistory, client, signal);
    const names = hasRequest(deployment) ? await trustInNames(client, signal) : undefined;
    const managed = {
      ...seen,
      ...(templateManager !== undefined && { templateManager }),
      ...(names && { names }),
    };
    const context = { client, signal };
    const defined = await this.withDefinitions(managed, context);
    return this.withEndpoints(await this.withLivePods(defined, context), context);
  }

  decide(seen: SeenDeployment): Decided<PlannedPass> {
    if (seen.as === 'deleted') return { decision: describeRelease(seen), plan: seen };
    if (seen.as !== 'valid')
      return { decision: { branch: seen.as, summary: '', changes: false }, plan: seen };
    const pass = decidePass(seen, this.dependencies);
    return { decision: pass.decision, plan: { as: 'valid', deployment: seen.deployment, pass } };
  }

  async act(plan: PlannedPass, context: Context): Promise<ReconcileResult> {
    if (plan.as === 'deleted') return releaseLeft(plan, this.releaseWaits, context);
    if (plan.as === 'selects-all') return this.refuseToSelectAll(plan.deployment, context);
    if (plan.as === 'invalid') throw this.refuseInvalid(plan.deployment, plan.problem, context);
    const result = await this.carryOut(plan.deployment, plan.pass, context);
    return this.measureChecks(plan, result, context);
  }

  /**
   * Whether a pass over the Deployment, as cached, would write, record or wait for anything: decides without applying,
   * which costs a tenth of a sync. Every later change asks again, so "no" loses nothing.
   */
  needsSync(key: string): boolean {
    const seen = this.look(key);
    if (!seen) return hasLeft(key, this.dependencies);
    return seen.as !== 'valid' || !isEmptyPass(decidePass(seen, this.dependencies));
  }

  private look(key: string): Exclude<SeenDeployment, DeletedDeployment> | undefined {
    const { deployments, replicaSets } = this.dependencies;
    const deployment = deployments.get(key);
    if (!deployment) return undefined;
    if (isEmptySelector(deployment.spec.selector)) return { as: 'selects-all', deployment };
    const validation = validateDeployment(deployment);
    if (!validation.valid) return { as: 'invalid', deployment, problem: validation.problem };
    const claims = claimReplicaSets(deployment, validation.selects, replicaSets);
    return { as: 'valid', deployment, claims };
  }

  /** With what its checks are, where one of them is open: they are read when they are needed, and not watched. */
  private async withDefinitions(
    seen: ValidDeployment,
    { client, signal }: Pick<Context, 'client' | 'signal'>,
  ): Promise<ValidDeployment> {
    const { checkHosts, defaultsOf } = this.dependencies;
    const { annotations, namespace = '' } = seen.deployment.metadata;
    if (!checkHosts || !mayUseChecks(annotations, defaultsOf?.(namespace))) return seen;
    const name = decidePass(seen, this.dependencies).checks?.definitions;
    if (name === undefined) return seen;
    return { ...seen, checks: await readDefinitions(client, { namespace, name }, signal) };
  }

  /** Adds the pods that should be resized: caches do not have their resources. */
  private async withLivePods(
    seen: ValidDeployment,
    { client, signal }: Pick<Context, 'client' | 'signal'>,
  ): Promise<ValidDeployment> {
    const { annotations, namespace = '' } = seen.deployment.metadata;
    if (!mayResize(annotations, this.dependencies.defaultsOf?.(namespace))) return seen;
    const name = decidePass(seen, this.dependencies).readsPodsOf;
    const replicaSet = seen.claims.owned.find(({ metadata }) => metadata.name === name);
    return replicaSet ? { ...seen, livePods: await readLivePods(client, replicaSet, signal) } : seen;
  }

  /** Adds the endpoints of a Service that is about to get requests: they are read only then. */
  private async withEndpoints(
    seen: ValidDeployment,
    { client, signal }: Pick<Context, 'client' | 'signal'>,
  ): Promise<ValidDeployment> {
    const { annotations, name, namespace = '' } = seen.deployment.metadata;
    const { defaultsOf, surroundings: { routes } = {} } = this.dependencies;
    const isLed = routes !== undefined && routes !== 'off' && routes.steeredBy(namespace, name).length > 0;
    if (!isLed && !mayBeSteered(annotations, defaultsOf?.(namespace))) return seen;
    const services = decidePass(seen, this.dependencies).readsEndpointsOf;
    if (!services) return seen;
    return { ...seen, endpoints: await readEndpoints(client, { namespace, services }, signal) };
  }

  private async carryOut(
    deployment: DeepReadonly<Deployment>,
    { mustHaveEnded, now, plan, recheckAfterMs, unserved }: DecidedPass,
    { client, events, signal }: Context,
  ): Promise<ReconcileResult> {
    const { rules } = this.dependencies;
    await recheckOldPods(deployment, mustHaveEnded, client, signal);
    if (unserved) await recheckService(deployment, unserved, client, signal);
    try {
      const outcome = await applyPlan(deployment, plan, { client, signal, events, now, rules });
      return { requeueAfterMs: outcome === 'collision' ? AFTER_COLLISION_MS : recheckAfterMs };
    } catch (error) {
      // Everything in the namespace is being deleted; a retry would only fail again.
      if (isNamespaceTerminating(error)) return {};
      throw error;
    }
  }

  /** After all writes: a slow answer holds none of them up. */
  private async measureChecks(
    { deployment, pass }: Extract<PlannedPass, { as: 'valid' }>,
    result: ReconcileResult,
    { client, events, signal }: Context,
  ): Promise<ReconcileResult> {
    const { clock, measuring, replicaSets } = this.dependencies;
    const { due = [], replicaSet: name } = pass.checks ?? {};
    const { namespace } = deployment.metadata;
    const replicaSet = replicaSets.get(keyOf({ namespace, name: name ?? '' }));
    if (!measuring || due.length === 0 || !replicaSet) return result;
    const tell = (note: EventNote): void => events.record(deployment, note);
    const { lookAgainAfterMs } = await measuring.measure(due, replicaSet, {
      ...{ client, signal, tell },
      nowMs: () => clock.now(),
    });
    return { ...result, requeueAfterMs: Math.min(result.requeueAfterMs ?? Infinity, lookAgainAfterMs) };
  }

  /** An empty selector would take every pod of the namespace: nothing is done until it is changed. */
  private async refuseToSelectAll(
    deployment: DeepReadonly<Deployment>,
    { client, events, signal }: Context,
  ): Promise<ReconcileResult> {
    events.record(deployment, selectingAllNote());
    const { generation = 0 } = deployment.metadata;
    if ((deployment.status?.observedGeneration ?? 0) < generation) {
      const status = { ...deployment.status, observedGeneration: generation };
      const object = asSent<Deployment>({ ...deployment, status });
      await client.update(typeOfDeployment(deployment), object, { subresource: 'status', signal });
    }
    return {};
  }

  private refuseInvalid(
    deployment: DeepReadonly<Deployment>,
    problem: string,
    { events }: Context,
  ): TerminalError {
    events.record(deployment, invalidDeploymentNote(problem));
    const { namespace, name } = deployment.metadata;
    return new TerminalError(`Deployment ${namespace}/${name} cannot be acted on: ${problem}`);
  }
}

/** One that nothing is done about. */
type RefusedDeployment =
  | { readonly as: 'selects-all'; readonly deployment: DeepReadonly<Deployment> }
  | { readonly as: 'invalid'; readonly deployment: DeepReadonly<Deployment>; readonly problem: string };

type ValidDeployment = { readonly as: 'valid' } & ObservedPass;

/** The cached objects of a key. */
export type SeenDeployment = RefusedDeployment | DeletedDeployment | ValidDeployment;

/** The plan that follows from it. */
export type PlannedPass =
  | RefusedDeployment
  | DeletedDeployment
  | { readonly as: 'valid'; readonly deployment: DeepReadonly<Deployment>; readonly pass: DecidedPass };

function readAttributes({ claims, deployment }: ObservedPass): Record<string, string | number> {
  return {
    'k8s.resource': 'replicasets.apps',
    'k8s.resource_version': deployment.metadata.resourceVersion ?? '',
    'rollkeeper.replica_sets.owned': claims.owned.length,
    ...countAttributes({
      'rollkeeper.replica_sets.adopted': claims.adopt,
      'rollkeeper.replica_sets.released': claims.release,
    }),
  };
}

/** Asks no policy about a Deployment that is under none. */
function mayBeSteered(own: Annotations | undefined, namespace: Annotations | undefined): boolean {
  return asksForPolicies(own, namespace) && maySteer(own, namespace);
}

/**
 * Checks with the API, bypassing the cache, that the last old pod has ended before a Recreate starts the new version:
 * ReplicaSets and pods have separate watches, so an existing pod may so far only be visible in its ReplicaSet's status.
 * One list per Recreate.
 * @param mustHaveEnded UIDs of the old ReplicaSets
 * @throws StaleCacheError if one still runs: retry when the cache knows it too
 */
async function recheckOldPods(
  deployment: DeepReadonly<Deployment>,
  mustHaveEnded: ReadonlySet<string>,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  if (mustHaveEnded.size === 0) return;
  const { namespace, name } = deployment.metadata;
  const labelSelector = selectorEqualities(deployment);
  const { items } = await client.list<Pod>(Pod, { namespace, labelSelector, signal });
  const running = items.find((pod) => !isPodFinished(pod) && mustHaveEnded.has(controllerOf(pod)?.uid ?? ''));
  if (running) {
    throw new StaleCacheError(`Deployment ${namespace}/${name}: old pod ${running.metadata.name} still runs`);
  }
}
