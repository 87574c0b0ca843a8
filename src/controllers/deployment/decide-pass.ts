import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Decision, Lister } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX } from '@rollkeeper/runtime';
import { isInReach } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment, NameTrust, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from './kubernetes/annotations.js';
import type { ReplicaSetClaims } from './claim-replica-sets.js';
import { decideRollout } from './decide-rollout.js';
import { describeDecision } from './describe-decision.js';
import { RolloutDraft } from './kubernetes/draft.js';
import type { DeploymentPlan } from './pass-plan.js';
import { isEmptyPlan, planPass } from './pass-plan.js';
import type { HostRule } from './policies/checks/check-hosts.js';
import type { CheckDefinitions, CheckNeeds, ChecksContext } from './policies/checks/check-needs.js';
import type { PolicyOutcome, Surroundings } from './policies/policies.js';
import type { LivePods } from './policies/resize/live-pods.js';
import type { ReadyEndpoints } from './policies/traffic/endpoints.js';
import { progressCheckAfterMs } from './kubernetes/progress.js';
import type { Unserved } from './policies/blue-green/recheck-service.js';
import { unservedBy } from './policies/blue-green/recheck-service.js';
import type { RolloutRules } from './kubernetes/rollout-rules.js';

/** The input of a pass. */
export interface ObservedPass {
  readonly deployment: DeepReadonly<Deployment>;
  readonly claims: ReplicaSetClaims;
  /** The definitions of its checks, once they have been read. */
  readonly checks?: CheckDefinitions;
  /** Pods that should be resized, once they have been read. */
  readonly livePods?: LivePods;
  /** The field manager that wrote the template last. @default not known */
  readonly templateManager?: string;
  /** The endpoints of its Services, once they have been read. */
  readonly endpoints?: ReadyEndpoints;
  /** Whether the names in requests can be believed. @default claimed */
  readonly names?: NameTrust;
}

export interface PassDependencies {
  /** The other objects that policies read. @default nothing is known of them */
  readonly surroundings?: Surroundings;
  readonly pods: Lister<Pod>;
  readonly clock: Clock;
  readonly rules: RolloutRules;
  /** The annotations of a Namespace, which are defaults for its Deployments. @default none */
  readonly defaultsOf?: (namespace: string) => Annotations | undefined;
  /** The hosts to which requests of checks may go. @default no checks are measured */
  readonly checkHosts?: readonly HostRule[];
}

/** The decision of a pass. */
export interface DecidedPass {
  /** The writes and Events. */
  readonly plan: DeploymentPlan;
  /**
   * UIDs of ReplicaSets that must have no running pods when the plan is executed, because a Recreate starts the new
   * version. The caches show none; only the API is certain. Empty in every other pass.
   */
  readonly mustHaveEnded: ReadonlySet<string>;
  /** The hashes that no Service may select by when the plan is executed. */
  readonly unserved?: Unserved;
  /** The needs of its checks. */
  readonly checks?: CheckNeeds;
  /** The Services whose endpoints have to be read before a decision. */
  readonly readsEndpointsOf?: readonly string[];
  /** The ReplicaSet whose pods have to be read before a decision. */
  readonly readsPodsOf?: string;
  /** When the progress deadline, or what a policy waits for, must be looked at again, unless something happens before. */
  readonly recheckAfterMs?: number;
  /** Time of the decision, RFC 3339. */
  readonly now: string;
  /** For the trace, the log and `explain`. */
  readonly decision: Decision;
}

/** Plays the pass on a private draft, and computes the resulting writes. */
export function decidePass(
  { checks, claims, deployment, endpoints, livePods, names, templateManager }: ObservedPass,
  dependencies: PassDependencies,
): DecidedPass {
  const { checkHosts, clock, defaultsOf, pods, rules, surroundings } = dependencies;
  const podsOf = (replicaSet: DeepReadonly<ReplicaSet> | undefined): readonly DeepReadonly<Pod>[] => {
    const uid = replicaSet?.metadata.uid;
    if (uid === undefined) return [];
    return pods.byIndex(OWNER_UID_INDEX, uid).filter((pod) => isInReach(pod, deployment));
  };
  const nowMs = clock.now();
  const { adopt: adopted, experiments, owned, release } = claims;
  const namespaceAnnotations = defaultsOf?.(deployment.metadata.namespace ?? '');
  const draft = new RolloutDraft({
    deployment,
    owned,
    adopted,
    now: toRfc3339(nowMs),
    nowMs,
    templateManager,
    names,
  });
  const { outcome, writes } = decideRollout(draft, {
    surroundings,
    podsOf: ({ observed }) => podsOf(observed),
    rules,
    namespaceAnnotations,
    livePods,
    endpoints,
    experiments,
    checks: checksContext(checkHosts, checks),
  });
  const plan = planPass(draft, release, writes);
  return {
    plan,
    mustHaveEnded: endedBeforeRecreate(draft),
    unserved: draft.limits.servedBy && unservedBy(draft),
    ...(outcome?.checks && { checks: outcome.checks }),
    ...(outcome?.readsEndpointsOf && { readsEndpointsOf: outcome.readsEndpointsOf }),
    ...(outcome?.readsPodsOf !== undefined && { readsPodsOf: outcome.readsPodsOf }),
    recheckAfterMs: recheckAfterMs(draft, outcome),
    now: draft.now,
    decision: describeDecision(draft, plan, outcome),
  };
}

/**
 * Whether there is nothing to write, record or wait for. An unfinished rollout is never done after a pass, because its
 * deadline has to be watched.
 */
export function isEmptyPass({ checks, plan, recheckAfterMs }: DecidedPass): boolean {
  return isEmptyPlan(plan) && recheckAfterMs === undefined && checks === undefined;
}

function checksContext(
  hosts: readonly HostRule[] | undefined,
  definitions: CheckDefinitions | undefined,
): ChecksContext {
  if (!hosts) return { kind: 'off' };
  return definitions ? { kind: 'known', definitions, hosts } : { kind: 'unread' };
}

/** No deadline runs while a policy waits. */
function recheckAfterMs(draft: RolloutDraft, policy: PolicyOutcome | undefined): number | undefined {
  const times = [policy?.recheckAfterMs, policy?.isWaiting ? undefined : progressCheckAfterMs(draft)];
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function endedBeforeRecreate(draft: RolloutDraft): ReadonlySet<string> {
  const { limits, replicaSets, startedByRecreate } = draft;
  if (!startedByRecreate || limits.startsBesideEnding) return new Set();
  const others = replicaSets.filter((replicaSet) => replicaSet !== startedByRecreate);
  return new Set(others.flatMap(({ observed }) => observed?.metadata.uid ?? []));
}
