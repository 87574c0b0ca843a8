import type { Annotations } from '../kubernetes/annotations.js';
import type { RolloutDraft } from '../kubernetes/draft.js';
import { isRollingUpdate } from '../kubernetes/limits.js';
import type { PodsOf } from '../kubernetes/recreate.js';
import { letGoOfServices, moveServices } from './blue-green/blue-green.js';
import type { ChecksContext } from './checks/check-needs.js';
import { chooseVersion } from './choose-version.js';
import { forgetConfiguration } from './config-restart/config-restart.js';
import { forgetPassedCause, noteHistory } from './history/history.js';
import { ABORT, APPROVE, FAILED, RETRY } from './names.js';
import { surgeForEvictions } from './evictions/on-eviction.js';
import type { PolicyOutcome } from './outcome.js';
import { newOutcome } from './outcome.js';
import type { PolicyWrites } from './policy-writes.js';
import type { LivePods, Pass, Policy, Surroundings } from './pass.js';
import {
  countEndingPods,
  noteReplacement,
  podReplacementOf,
  tellEnding,
} from './pod-replacement/pod-replacement.js';
import { NO_POLICY, compilePolicy, type CompiledPolicy, type RolloutPolicy } from './policy.js';
import { policyProblem } from './policy-problem.js';
import { respectBudgets } from './budgets/respect-budgets.js';
import { isGood } from './revisions.js';
import { runInstead } from './run-instead.js';
import { noteScaleDown } from './scale-down/scale-down.js';
import { maxSurgeOf } from './blue-green/selecting-services.js';
import { noteSizeSteps } from './history/size-steps.js';
import { giveTurnBack, isLimitedInCluster } from './turns/take-turns.js';
import { inKubernetesWords, tellProblem } from './tell.js';
import { goZoneByZone } from './zones/zones.js';

export interface PolicyContext {
  /** @default nothing is known of them */
  readonly surroundings?: Surroundings;
  readonly podsOf: PodsOf;
  /** Of the Deployment's Namespace, for its defaults. */
  readonly namespaceAnnotations?: Annotations;
  /** What is known of checks. @default their recorded results alone */
  readonly checks?: ChecksContext;
  /** @default to be read, where they are needed */
  readonly livePods?: LivePods;
}

/** The policies in their order: what one decides, those behind it know, and what it reports, it reports after them. */
const POLICIES: readonly Policy[] = [
  letGoOfServices,
  surgeForEvictions,
  respectBudgets,
  chooseVersion,
  moveServices,
  goZoneByZone,
];
/** Those that have something to do although the Deployment asks for none. */
const ALWAYS: readonly Policy[] = [letGoOfServices];

const BY_RESULTS: ChecksContext = { kind: 'unread' };

/** What the policies have decided beside the draft. */
export interface DecidedPolicies {
  readonly writes: PolicyWrites;
  /** @default the Deployment is under no policy */
  readonly outcome?: PolicyOutcome;
}

/** Plays Kubernetes' steps on the draft. */
export type PlaySteps = () => void;

/**
 * A pass under the policies that the annotations ask for. They never size a ReplicaSet: they choose which template the steps are
 * played for, and limit the sizes that the steps give. So the limits of a rolling update hold under every policy.
 * Without annotations it is the steps alone.
 */
export function playUnderPolicies(
  draft: RolloutDraft,
  context: PolicyContext,
  play: PlaySteps,
): DecidedPolicies {
  const { checks = BY_RESULTS, livePods, namespaceAnnotations, podsOf, surroundings = {} } = context;
  const { configuration, turns } = surroundings;
  const shape = {
    isRollingUpdate: isRollingUpdate(draft.spec),
    maxSurge: maxSurgeOf(draft.spec),
    readsReloader: configuration !== undefined && configuration !== 'off',
  };
  const compiled = compilePolicy(draft.annotations, namespaceAnnotations, shape);
  inKubernetesWords(draft);
  const policy = policyOf(compiled, draft.annotations, isLimitedInCluster(draft, turns));
  forgetPassedCause(draft);
  const outcome = newOutcome();
  const replacement = podReplacementOf(draft, policy);
  countEndingPods(draft, replacement, podsOf);
  const { podsOccupiedBy } = draft.limits;
  const writes: PolicyWrites = { pods: [], services: [] };
  const pass: Pass = {
    ...surroundings,
    ...{ draft, policy: policy ?? NO_POLICY, outcome, writes, podsOf, checks, livePods },
  };
  const isDeleted = draft.observed.metadata.deletionTimestamp !== undefined;
  playUnder(isDeleted ? [] : policy ? POLICIES : ALWAYS, pass, play);
  if (!isDeleted) {
    noteReplacement(draft, replacement);
    noteScaleDown(draft, policy);
    if (podsOccupiedBy) tellEnding(draft, outcome);
  }
  if (!policy && turns !== undefined) giveTurnBack(draft);
  if (policy?.history && !isDeleted) noteHistory(draft);
  if (policy?.notesSizes) noteSizeSteps(draft, outcome);
  const isForgotten = compiled.kind !== 'invalid' && !policy?.restartOn;
  if (configuration === 'off' || (configuration && isForgotten)) forgetConfiguration(draft);
  tellProblem(draft, policyProblem(draft, compiled, pass), outcome);
  const isUnder = compiled.kind !== 'none' || policy !== undefined || podsOccupiedBy !== undefined;
  return { writes, ...(isUnder && { outcome }) };
}

/** Asks one policy after the other, plays the steps under what they decide, and lets each of them report, the last one first. */
function playUnder(policies: readonly Policy[], pass: Pass, play: PlaySteps): void {
  const { draft } = pass;
  const afterwards: (() => void)[] = [];
  let ends = false;
  if (policies.length > 0) draft.limit({ isGood });
  for (const policy of policies) {
    const decision = policy(pass);
    if (decision?.limits) draft.limit(decision.limits);
    if (decision?.afterwards) afterwards.push(decision.afterwards);
    if (decision?.runs) afterwards.push(runInstead(draft, decision.runs));
    ends = decision?.ends === true;
    if (ends) break;
  }
  if (!ends) play();
  for (const report of afterwards.toReversed()) report();
}

/** A person may request a rollback or a retry without any policy. */
function policyOf(
  compiled: CompiledPolicy,
  annotations: Annotations,
  isLimited: boolean,
): RolloutPolicy | undefined {
  if (compiled.kind !== 'none') return compiled.policy;
  const isAsked = [ABORT, RETRY, APPROVE, FAILED].some((name) => annotations[name] !== undefined);
  return isAsked || isLimited ? NO_POLICY : undefined;
}
