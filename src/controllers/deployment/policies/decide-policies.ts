import type { Annotations } from '../kubernetes/annotations.js';
import type { RolloutDraft } from '../kubernetes/draft.js';
import { isRollingUpdate } from '../kubernetes/limits.js';
import type { PodsOf } from '../kubernetes/recreate.js';
import { maxSurgeOf } from './blue-green/selecting-services.js';
import type { ChecksContext } from './checks/check-needs.js';
import { newOutcome } from './common/outcome.js';
import type { PolicyShape } from './common/settings.js';
import type { PolicyWrites } from './common/policy-writes.js';
import { isGood } from './common/revisions.js';
import type { ExperimentSurroundings } from './experiment/experiment.js';
import { INVALID_ANNOTATION, inKubernetesWords, tellProblem, type Problem } from './common/tell.js';
import { compilePolicy, renderProblems, type CompiledPolicy } from './compile-policy.js';
import { NO_POLICY, POLICIES, type PolicyOutcome, type RolloutPass, type Surroundings } from './policies.js';
import type { LivePods } from './resize/live-pods.js';
import type { ReadyEndpoints } from './traffic/endpoints.js';
import { isCustomDeployment } from '../kubernetes/deployment-api.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import { setRequestedSize, type SizeRequest } from '../kubernetes/requested-size.js';
import { latestOf } from '../kubernetes/new-replica-set.js';
import { withoutHash } from '../kubernetes/pod-template.js';

/** The knowledge of a pass besides the draft. */
export interface PolicyContext {
  /** @default nothing is known of them */
  readonly surroundings?: Surroundings;
  readonly podsOf: PodsOf;
  /** Why a setting cannot be followed for a set that is seen as a Deployment. @default every setting can */
  readonly refuses?: PolicyShape['refuses'];
  /** A problem that was found outside of the policies, reported if they have none. @default none */
  readonly problem?: Problem;
  /** The annotations of the Deployment's Namespace, for its defaults. */
  readonly namespaceAnnotations?: Annotations;
  /** The knowledge of checks. @default their recorded results alone */
  readonly checks?: ChecksContext;
  /** @default to be read, where they are needed */
  readonly livePods?: LivePods;
  /** The endpoints of Services. @default to be read, where they are needed */
  readonly endpoints?: ReadyEndpoints;
  /** The ReplicaSets of its experiments. @default not known */
  readonly experiments?: ExperimentSurroundings['experiments'];
  /** For an explanation, which reads no experiments. @default false: they count as they should be */
  readonly repeatsTold?: boolean;
}

/** The decisions of the policies beside the draft. */
export interface DecidedPolicies {
  readonly writes: PolicyWrites;
  /** @default the Deployment is under no policy */
  readonly outcome?: PolicyOutcome;
}

const BY_RESULTS: ChecksContext = { kind: 'unread' };

/**
 * Decides a pass under the policies that the annotations ask for: each may limit the sizes that Kubernetes' syncs give, or
 * choose the version that they are played for. So the limits of a rolling update hold under every policy.
 * @param play plays the syncs on the draft
 */
export function decideUnderPolicies(
  draft: RolloutDraft,
  context: PolicyContext,
  play: () => void,
): DecidedPolicies {
  const compiled = compile(draft, context);
  inKubernetesWords(draft);
  const pass = passOf(draft, compiled, context);
  for (const { prepare } of POLICIES) prepare?.(pass);
  if (pass.isDeleted) play();
  else playLimited(pass, play);
  for (const { conclude } of POLICIES.toReversed()) conclude?.(pass);
  tellProblem(draft, problemOf(pass, compiled) ?? context.problem, pass.outcome);
  const isUnder = compiled.kind !== 'none' || pass.isAsked || draft.limits.podsOccupiedBy !== undefined;
  return { writes: pass.writes, ...(isUnder && { outcome: pass.outcome }) };
}

function compile(
  draft: RolloutDraft,
  { namespaceAnnotations, refuses, surroundings }: PolicyContext,
): CompiledPolicy {
  const configuration = surroundings?.configuration;
  return compilePolicy(draft.annotations, namespaceAnnotations, {
    isRollingUpdate: isRollingUpdate(draft.spec),
    maxSurge: maxSurgeOf(draft.spec),
    ...(refuses && { refuses }),
    readsReloader: configuration !== undefined && configuration !== 'off',
  });
}

function passOf(
  draft: RolloutDraft,
  compiled: CompiledPolicy,
  { checks = BY_RESULTS, endpoints, experiments, livePods, podsOf, repeatsTold, surroundings }: PolicyContext,
): RolloutPass {
  const pass: RolloutPass = {
    ...surroundings,
    ...{ draft, podsOf, checks, livePods, endpoints, experiments, repeatsTold: repeatsTold === true },
    policy: compiled.kind === 'none' ? NO_POLICY : compiled.policy,
    outcome: newOutcome(),
    writes: { services: [], madeServices: [], routes: [], copies: [], pods: [], experiments: [] },
    isAsked: compiled.kind !== 'none',
    isDeleted: draft.observed.metadata.deletionTimestamp !== undefined,
  };
  return pass.isAsked ? pass : { ...pass, isAsked: POLICIES.some(({ concerns }) => concerns?.(pass)) };
}

/** Asks one policy after the other, plays the syncs within what they decide, and lets each of them report, the last one first. */
function playLimited(pass: RolloutPass, play: () => void): void {
  const { draft } = pass;
  const afterwards: (() => SizeRequest | void)[] = [];
  let ends = false;
  draft.limit({ isGood });
  for (const { decide } of POLICIES) {
    const decision = decide?.(pass);
    if (decision?.limits) draft.limit(decision.limits);
    if (decision?.afterwards) afterwards.push(decision.afterwards);
    if (decision?.runs) afterwards.push(runInstead(draft, decision.runs));
    ends = decision?.ends === true;
    if (ends) break;
  }
  if (!ends) play();
  for (const report of afterwards.toReversed()) {
    const request = report();
    if (request) setRequestedSize(draft, request);
  }
}

/** The problem that keeps the policies of a Deployment from being followed: the first of those that there are. */
function problemOf(pass: RolloutPass, compiled: CompiledPolicy): Problem | undefined {
  if (compiled.kind === 'none') return undefined;
  if (compiled.kind === 'invalid')
    return { reason: INVALID_ANNOTATION, message: renderProblems(compiled.problems) };
  for (const { trouble } of POLICIES) {
    const problem = trouble?.(pass);
    if (problem) return problem;
  }
  return undefined;
}

/**
 * Makes the steps run as if the Deployment asked for the template of `target`. No revision changes; of the pods that the Deployment asks
 * for, the status counts those that there are.
 * @returns puts back what the Deployment asks for, when the steps have been played
 */
function runInstead(draft: RolloutDraft, target: ReplicaSetDraft): () => void {
  const { spec } = draft;
  draft.runsInstead = target;
  draft.spec = { ...spec, template: withoutHash(target.template) };
  draft.keepsRevisions = true;
  return () => {
    draft.keepsRevisions = false;
    draft.spec = spec;
    const updated = latestOf(draft, draft.living)?.status.replicas ?? 0;
    const { updatedReplicas: _played, ...status } = draft.status;
    const isShown = updated > 0 || isCustomDeployment(draft.observed);
    draft.setStatus(isShown ? { ...status, updatedReplicas: updated } : status);
  };
}
