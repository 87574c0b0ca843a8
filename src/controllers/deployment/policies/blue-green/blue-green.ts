import { renderDuration, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { isPodServing } from '../../../shared/index.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { isRolloutComplete } from '../../kubernetes/progress.js';
import { hashOfSet, isReadyToServe, planBlueGreen } from './blue-green-plan.js';
import type { BlueGreenPlan } from './blue-green-plan.js';
import type { BlueGreen } from './settings.js';
import { blueGreenTrouble } from './blue-green-trouble.js';
import { APPROVE } from '../common/names.js';
import type { Outcome } from '../common/outcome.js';
import { WAITS } from '../common/waits.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { BlueGreenFields } from './settings.js';
import type { CheckOutcome } from '../checks/check-needs.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import { byWhom, requesterOf } from '../common/requester.js';
import { isGood, revisionInForce } from '../common/revisions.js';
import type { SelectingService, Services, WatchedServices } from './selecting-services.js';
import { hashSelectedBy, servicesOf, switchOf } from './selecting-services.js';
import { letGo, pointAt } from './service-writes.js';
import { trafficServicesOf, type GivenServices } from '../common/steered-services.js';
import {
  ROLLOUT_HELD,
  WAITING_FOR_APPROVAL,
  WAITING_IN_STEP,
  normal,
  observedProgress,
  tellEvent,
  tellProgress,
} from '../common/tell.js';

/** Services and pods come into the cache soon; what the server refuses may be allowed later. */
const UNKNOWN_LOOKS_AGAIN_MS = 2000;
/** The reason that keeps a Service from being moved may end by itself. */
const TROUBLE_LOOKS_AGAIN_MS = 30_000;
/** The write to the Service brings it back; this covers a watch that misses it. */
const WRITE_LOOKS_AGAIN_MS = 1000;

export interface ServiceSurroundings {
  /** The Services that blue-green rollouts move. @default not known */
  readonly services?: WatchedServices;
}
export interface ServicePass
  extends Pass<BlueGreenFields & { readonly traffic?: GivenServices }>, ServiceSurroundings {
  readonly outcome: Outcome & CheckOutcome;
}

/** Services that no policy moves any more select all pods again. */
export const RELEASED_SERVICES: Policy<ServicePass> = { decide: letGoOfServices };
/** Both versions run whole, and a Service moves from the one to the other. */
export const BLUE_GREEN: Policy<ServicePass> = {
  decide: moveServices,
  trouble: ({ draft, policy, services }) => blueGreenTrouble(draft, policy.blueGreen, services),
};

/** The pass of a Deployment whose versions run whole beside each other. */
interface MovingPass extends ServicePass {
  readonly blueGreen: BlueGreen;
  readonly services: Services;
  /** The ReplicaSet of the template that the steps are played for. */
  readonly latest: ReplicaSetDraft | undefined;
}

/**
 * `strategy: blue-green`, for the template that should run: the one asked for, or a good one in place of
 * one that failed. What the active Service selects keeps its size; the Service moves only to a version that is there.
 */
function moveServices(pass: ServicePass): PolicyDecision | undefined {
  const { draft, policy, services } = pass;
  const { blueGreen } = policy;
  if (!blueGreen) return policy.traffic ? undefined : keepSelected(pass);
  const trouble = blueGreenTrouble(draft, blueGreen, services);
  const isKnown = services !== undefined && services !== 'off' && services.availability === 'known';
  const latest = latestOf(draft, draft.living);
  if (trouble || !isKnown) return leaveUnmoved(pass, latest, trouble?.message);
  const { namespace = '' } = draft.observed.metadata;
  const active = services.find(namespace, blueGreen.activeService);
  return active ? moveKnown({ ...pass, blueGreen, services, latest }, active) : { ends: true };
}

/**
 * Takes the hash from Services that the policy does not name any more, before anything else: a version that they select alone may be
 * about to go.
 */
function letGoOfServices({
  draft,
  outcome,
  policy,
  services,
  writes,
}: ServicePass): PolicyDecision | undefined {
  // The Services that it moves may be named by what cannot be understood.
  if (services === undefined || services === 'off' || policy.unclear !== undefined) return undefined;
  const { name, namespace = '' } = draft.observed.metadata;
  const { canary, stable } = policy.traffic ? trafficServicesOf(policy.traffic, name) : {};
  const used = new Set([...servicesOf(policy.blueGreen), canary, stable]);
  const left = services.managedBy(namespace, name).filter(({ metadata }) => !used.has(metadata.name));
  for (const service of left) {
    writes.services.push(letGo(service));
    const message = `Service "${service.metadata.name}" selects all pods again: no policy moves it any more`;
    tellEvent(draft, outcome, normal('ServiceLetGo', message));
  }
  if (left.length === 0) return undefined;
  lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
  return { ends: true };
}

function moveKnown(pass: MovingPass, active: DeepReadonly<SelectingService>): PolicyDecision {
  const { blueGreen, draft, latest } = pass;
  const { template } = draft.spec;
  const plan = planBlueGreen(draft, blueGreen, active, latest);
  const limits = { servedBy: { service: blueGreen.activeService }, keptWhole: keptBy(plan) };
  if (draft.spec.paused) return { limits };
  if (plan.kind === 'claim') {
    claim(pass, active, plan);
    return { limits, ends: true };
  }
  const runs = plan.kind === 'settle' && !draft.keepsRevisions ? plan.on : undefined;
  const afterwards = (): void => {
    if (draft.spec.template !== template) return;
    movePreview(pass);
    if (plan.kind === 'moved') tellDelay(pass, active, plan);
    if (plan.kind === 'beside') promoteOrWait(pass, active, plan.active);
  };
  return { limits, runs, afterwards };
}

/** While it is unclear whether a Service selects one version alone, no version goes that a Service may select. */
function keepSelected({ draft, policy, services }: ServicePass): PolicyDecision | undefined {
  const { name, namespace = '' } = draft.observed.metadata;
  const isKnown = services !== undefined && services !== 'off';
  const managed = isKnown && policy.unclear !== undefined ? services.managedBy(namespace, name) : [];
  const hashes = new Set(managed.map(hashSelectedBy));
  const selected = activeOf(draft.living).filter((set) => hashes.has(hashOfSet(set) ?? ''));
  return selected.length > 0 ? { limits: { keptWhole: new Set(selected) } } : undefined;
}

/** The ReplicaSets that keep their size regardless of the steps; `undefined` if pods are replaced in the usual way. */
function keptBy(plan: BlueGreenPlan): ReadonlySet<ReplicaSetDraft> | undefined {
  if (plan.kind === 'beside') return new Set([plan.active]);
  if (plan.kind === 'moved') return new Set(plan.kept ? [plan.kept] : []);
  return undefined;
}

/** Nothing else happens in this pass: until the Service selects this version alone, it would select the pods of others as well. */
function claim(
  { blueGreen, draft, outcome, writes }: MovingPass,
  active: DeepReadonly<SelectingService>,
  { at, from }: Extract<BlueGreenPlan, { kind: 'claim' }>,
): void {
  const to = hashOfSet(at) ?? '';
  writes.services.push(pointAt(active, draft.name, { to, from: from && hashOfSet(from), at: draft.now }));
  const message = `Service "${blueGreen.activeService}" selects the pods of ${at.name}`;
  if (hashSelectedBy(active) !== to) tellEvent(draft, outcome, normal('ServiceSwitched', message));
  lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
}

/** The preview Service follows what is asked for as soon as it has a ReplicaSet. */
function movePreview({ blueGreen, draft, latest, outcome, services, writes }: MovingPass): void {
  const { previewService } = blueGreen;
  const { namespace = '' } = draft.observed.metadata;
  const preview = previewService === undefined ? undefined : services.find(namespace, previewService);
  const to = latest && hashOfSet(latest);
  if (!preview || !latest?.observed || to === undefined || latest.replicas === 0) return;
  if (hashSelectedBy(preview) === to) return;
  writes.services.push(pointAt(preview, draft.name, { to, at: draft.now }));
  const message = `Service "${previewService}" selects the pods of ${latest.name}`;
  tellEvent(draft, outcome, normal('ServiceSwitched', message));
}

function promoteOrWait(
  pass: MovingPass,
  active: DeepReadonly<SelectingService>,
  before: ReplicaSetDraft,
): void {
  const { blueGreen, draft, latest, outcome, writes } = pass;
  if (!isReadyToServe(draft, latest, before)) return;
  if (!isSeenToServe(pass, latest)) return lookAgainAfter(outcome, UNKNOWN_LOOKS_AGAIN_MS);
  // The way back is open although it is unclear what protects a new version.
  if (pass.policy.unclear !== undefined && !isGood(latest)) return;
  if (outcome.isHeldByCheck && !draft.keepsRevisions && !isGood(latest)) return;
  const by = draft.keepsRevisions ? undefined : requesterOf(draft.annotations, APPROVE);
  if (!blueGreen.autoPromote && !isGood(latest) && by === undefined) return tellApproval(pass, latest);
  const to = hashOfSet(latest) ?? '';
  writes.services.push(pointAt(active, draft.name, { to, at: draft.now, by }));
  if (by !== undefined) {
    takeApproval(draft);
    const approved = `The move to ${latest.name} was approved${byWhom(by, draft.names)}`;
    tellEvent(draft, outcome, normal('RolloutApproved', approved));
  }
  const message = `Service "${blueGreen.activeService}" selects the pods of ${latest.name} in place of those of ${before.name}`;
  tellEvent(draft, outcome, normal('ServiceSwitched', message));
  lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
}

/**
 * Whether the cache shows the pods that the ReplicaSet says are available: one that is being evicted is seen before its ReplicaSet
 * notices. A plan has no pods.
 */
function isSeenToServe({ draft, podsOf }: MovingPass, latest: ReplicaSetDraft): boolean {
  const pods = podsOf(latest);
  const said = Math.min(lastingAvailable(latest, OWN_RULES), draft.replicas);
  return pods.length === 0 || pods.filter(isPodServing).length >= said;
}

function tellApproval({ blueGreen, draft, outcome }: MovingPass, latest: ReplicaSetDraft): void {
  const { activeService, previewService } = blueGreen;
  const { name, namespace = 'default' } = draft.observed.metadata;
  const seenBy = previewService === undefined ? '' : ` and can be seen by Service "${previewService}"`;
  const message = `${latest.name} is whole${seenBy}; Service "${activeService}" waits for an approval to select it`;
  if (observedProgress(draft)?.message !== message)
    tellEvent(draft, outcome, normal(WAITING_FOR_APPROVAL, message));
  tellProgress(draft, { status: 'Unknown', reason: WAITING_FOR_APPROVAL, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'waits-for-approval',
    sentence: message,
    unblockedBy: [
      `rollkeeper promote ${namespace}/${name}, or kubectl annotate deployment ${name} ${APPROVE}=WHO`,
      `or roll back with rollkeeper abort ${namespace}/${name}`,
    ],
    endsByItself: false,
  };
}

/** The old version stays whole for a while after the move, so that the way back is instant. */
function tellDelay(
  { blueGreen, draft, latest, outcome }: MovingPass,
  active: DeepReadonly<SelectingService>,
  { kept, untilMs }: Extract<BlueGreenPlan, { kind: 'moved' }>,
): void {
  // The rest of an approval whose move was made by a process that died before it could take the annotation away.
  const by = requesterOf(draft.annotations, APPROVE);
  if (by !== undefined && switchOf(active)?.by === by) takeApproval(draft);
  if (!kept) return;
  const leftMs = untilMs - draft.nowMs;
  lookAgainAfter(outcome, leftMs);
  const message = `Service "${blueGreen.activeService}" selects ${latest?.name ?? ''}; ${kept.name} stays until ${toRfc3339(untilMs)}`;
  tellProgress(draft, { status: 'Unknown', reason: WAITING_IN_STEP, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'waits-in-step',
    sentence: message,
    unblockedBy: [`${renderDuration(leftMs)} without a failure`, 'or roll back with rollkeeper abort'],
    endsByItself: true,
  };
}

function takeApproval(draft: RolloutDraft): void {
  const { [APPROVE]: _used, ...others } = draft.annotations;
  draft.replaceMetadata(others);
}

/** No Service can be moved, or none is known: no version begins, and none goes. */
function leaveUnmoved(
  pass: ServicePass,
  latest: ReplicaSetDraft | undefined,
  trouble: string | undefined,
): PolicyDecision {
  const { draft } = pass;
  const old = activeOf(draft.living).filter((set) => set !== latest);
  const limits = { keptWhole: old.length > 0 ? new Set(old) : undefined };
  const hasBegun = latest !== undefined && latest.replicas > 0;
  const served = revisionInForce(draft) ?? old.at(-1);
  const isPlayed = old.length === 0 || hasBegun || draft.keepsRevisions || draft.spec.paused;
  return {
    limits,
    runs: isPlayed ? undefined : served,
    afterwards: () => tellUnmoved(pass, old, trouble),
  };
}

function tellUnmoved(pass: ServicePass, old: readonly ReplicaSetDraft[], trouble: string | undefined): void {
  const { draft, outcome, services } = pass;
  const isUnknown = services !== undefined && services !== 'off' && services.availability !== 'known';
  if (isUnknown) lookAgainAfter(outcome, UNKNOWN_LOOKS_AGAIN_MS);
  if (draft.spec.paused || old.length === 0) return;
  if (trouble === undefined) return repeatWait(pass);
  // Nothing reports that pods of another workload are gone.
  lookAgainAfter(outcome, TROUBLE_LOOKS_AGAIN_MS);
  const message = `The rollout is held: ${trouble}`;
  if (observedProgress(draft)?.message !== message) tellEvent(draft, outcome, normal(ROLLOUT_HELD, message));
  tellProgress(draft, { status: 'Unknown', reason: ROLLOUT_HELD, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'rollout-held',
    sentence: `it is held: ${trouble}`,
    unblockedBy: ['a Service that can be moved (docs/ROLLOUTS.md)'],
    endsByItself: false,
  };
}

/** If Services are not known, what the controller said last still holds. */
function repeatWait({ draft, outcome }: ServicePass): void {
  const observed = observedProgress(draft);
  const { message = '', reason } = observed ?? {};
  if (!isOwnWait(reason) || isRolloutComplete(draft, draft.status)) return;
  const { code } = WAITS[reason];
  tellProgress(draft, { status: 'Unknown', reason, message });
  outcome.isWaiting = true;
  const { name, namespace = 'default' } = draft.observed.metadata;
  const promote = `rollkeeper promote ${namespace}/${name}`;
  outcome.standing = {
    code,
    sentence: message,
    unblockedBy: code === 'waits-for-approval' ? [promote] : ['what the message names'],
    endsByItself: code === 'waits-in-step',
  };
}

/** The waits that this policy writes. */
const OWN_WAITS = [WAITING_FOR_APPROVAL, WAITING_IN_STEP, ROLLOUT_HELD] as const;

function isOwnWait(reason: string | undefined): reason is (typeof OWN_WAITS)[number] {
  return OWN_WAITS.some((each) => each === reason);
}
