import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import { hashOfSet, isReadyToServe } from '../blue-green/blue-green-plan.js';
import type { ServiceSurroundings } from '../blue-green/blue-green.js';
import { pointAt } from '../blue-green/service-writes.js';
import type { CheckOutcome } from '../checks/check-needs.js';
import { APPROVE } from '../common/names.js';
import type { Outcome } from '../common/outcome.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Policy, PolicyDecision } from '../common/pass.js';
import { byWhom, requesterOf } from '../common/requester.js';
import { isGood, revisionInForce } from '../common/revisions.js';
import type { Problem } from '../common/tell.js';
import { normal, tellEvent } from '../common/tell.js';
import type { ReadyEndpoints } from './endpoints.js';
import { madeService, portsOfMade } from './made-services.js';
import type { WatchedRoutes } from './routes.js';
import type { Share } from '../common/share.js';
import { WHOLE_SHARE } from '../common/share.js';
import { isAt, longestTimeoutMs, titleOf, type ManagedRule } from './managed-rules.js';
import { NO_PARTS, haveParts, partsProblem, type OwnParts } from './own-parts.js';
import { renderShare, routeWrites } from './route-writes.js';
import { noteOn } from './steered-note.js';
import { shareWithoutPods, stableSize } from './stable-size.js';
import type { Traffic } from './settings.js';
import { isTail, planTraffic, type TrafficStep, type TrafficView, type Which } from './traffic-plan.js';
import type { FoundSteering, Steering } from './traffic-trouble.js';
import { tellTrafficWait, tellUnsteered } from './tell-traffic.js';
import { ownPartsOf, steeringOf, type SteeredPass } from './step-weights.js';
import { endpointsOf, isWholeFor, versionsOf, type SetVersion, type Versions } from './versions.js';
import { noteWeight } from './weight-note.js';

export interface TrafficSurroundings extends ServiceSurroundings {
  /** The routes whose weights rollouts write. @default not known */
  readonly routes?: WatchedRoutes;
}

/** The results of a rollout by weights for others in a pass. */
export interface TrafficOutcome {
  /** The share that the steps ask for now. @default none in this pass */
  askedShare?: Share;
  /** The Services whose endpoints have to be read before the pass can be decided. */
  readsEndpointsOf?: readonly string[];
}

export interface TrafficPass extends SteeredPass {
  readonly outcome: Outcome & CheckOutcome & TrafficOutcome;
  /** @default to be read, where they are needed */
  readonly endpoints?: ReadyEndpoints;
}

/** The write brings it back; this covers a watch that misses it. */
const WRITE_LOOKS_AGAIN_MS = 1000;
/** Nothing reports when endpoints have come, or the routes of a server that refused them. */
const UNKNOWN_LOOKS_AGAIN_MS = 2000;
/** How long a version keeps its pods without requests if no rule has a timeout. */
const DEFAULT_DRAIN_MS = 30_000;

/** The rules of routes say which version gets which share of the requests. */
export const TRAFFIC: Policy<TrafficPass> = { decide: steer, trouble: troubleOf };

function steer(pass: TrafficPass): PolicyDecision | undefined {
  const { draft, policy } = pass;
  if (!policy.traffic) return undefined;
  const found = steeringOf(pass);
  if (!found) return keepOldWhole(draft);
  return found.kind === 'known' ? steerKnown(pass, policy.traffic, found.steering) : leaveAsItIs(pass, found);
}

function troubleOf(pass: TrafficPass): Problem | undefined {
  const found = pass.draft.replicas === 0 ? undefined : steeringOf(pass);
  return found?.kind === 'trouble' ? found.problem : undefined;
}

/** A plan knows no routes: the old version stays until the new one is whole. */
function keepOldWhole(draft: RolloutDraft): PolicyDecision {
  const latest = latestOf(draft, draft.living);
  const isWhole = latest?.observed && lastingAvailable(latest, OWN_RULES) >= draft.replicas;
  const old = activeOf(draft.living).filter((set) => set !== latest);
  return { limits: { keptWhole: new Set(isWhole ? [] : old) } };
}

function steerKnown(pass: TrafficPass, traffic: Traffic, steering: Steering): PolicyDecision {
  const { draft, outcome } = pass;
  const versions = versionsOf(pass, steering);
  const { stable } = versions;
  const { template } = draft.spec;
  if (!stable) return claim(pass, steering, versions.claims);
  if (draft.replicas === 0) return {};
  const known: Known = { traffic, steering, versions, stable };
  const asked = versions.wanted && askedShare(pass, stable, versions.wanted);
  const limits = limitsOf(pass, known, asked);
  if (draft.spec.paused) return { limits };
  const parts = asked && ownPartsOf(pass, asked, versions.wanted.set);
  const step = stepOf(pass, viewOf(pass, known, { percent: asked?.percent, parts }));
  if (step.kind === 'read') {
    outcome.readsEndpointsOf = [steering.names[step.which]];
    lookAgainAfter(outcome, UNKNOWN_LOOKS_AGAIN_MS);
  }
  carryOut(pass, steering, { step, asked, parts });
  const afterwards = (): void => {
    if (step.kind === 'wait' && draft.spec.template === template) tellTrafficWait(pass, step, steering);
  };
  return { limits, ends: step.kind === 'weigh' && step.isAlone, afterwards };
}

/** The next step; a person may let the rollout continue although another hand has changed the weights. */
function stepOf(pass: TrafficPass, view: TrafficView<SetVersion>): TrafficStep<SetVersion> {
  const { draft, outcome } = pass;
  const step = planTraffic(view);
  const by = requesterOf(draft.annotations, APPROVE);
  if (step.kind !== 'wait' || step.why.for !== 'edit' || by === undefined) return step;
  const continued = planTraffic({ ...view, isContinued: true });
  if (continued.kind !== 'weigh') return continued;
  const { [APPROVE]: _used, ...others } = draft.annotations;
  draft.replaceMetadata(others);
  const approved = `The rollout gives the routes its weights again, as approved${byWhom(by, draft.names)}`;
  tellEvent(draft, outcome, normal('RolloutApproved', approved));
  return continued;
}

/** A version that a Service selects keeps its pods; what both have left goes once the routes have said so. */
function limitsOf(
  { draft, outcome }: TrafficPass,
  { stable, steering: { names, rules }, traffic, versions: { canary, wanted } }: Known,
  asked: Share | undefined,
) {
  const isShrinking = traffic.isStableDynamic === true && canary !== undefined && canary === wanted;
  const { shrinksAfterMs, size } = isShrinking
    ? stableSize(draft, { stable, canary, asked, drainMs: drainOf(traffic, rules) })
    : { size: draft.replicas };
  lookAgainAfter(outcome, shrinksAfterMs);
  const isLeaving = canary !== undefined && canary.set !== wanted?.set && canary.set !== stable.set;
  const isSettling = canary?.set === stable.set && isTail(stable);
  return {
    servedBy: { service: names.stable },
    // The old version takes the room first that it needs for the requests of one that is left.
    ...(isLeaving && stable.set.replicas < draft.replicas && stable.set !== wanted?.set
      ? { most: wanted?.set.replicas ?? 0 }
      : {}),
    keptWhole: new Set(stable.set === wanted?.set ? [] : [stable.set]),
    ...(isShrinking && {
      keptSize: (set: ReplicaSetDraft): number => (set === stable.set ? size : draft.replicas),
    }),
    leastOld: (set: ReplicaSetDraft): number =>
      isSettling || set === canary?.set ? (set.observed?.spec.replicas ?? 0) : 0,
    ...(isLeaving ? { mayNotGrow: new Set([canary.set]) } : {}),
  };
}

/** All that a pass knows of the way of the requests. */
interface Known {
  readonly traffic: Traffic;
  readonly steering: Steering;
  readonly versions: Versions;
  readonly stable: SetVersion;
}

/** The share that is asked for; each is absent if the version has to keep what it has. */
interface Asked {
  readonly percent?: number | undefined;
  readonly parts?: OwnParts | undefined;
}

function viewOf(
  pass: TrafficPass,
  { steering, stable, traffic, versions }: Known,
  { parts, percent }: Asked,
): TrafficView<SetVersion> {
  const { draft, endpoints } = pass;
  const { rules } = steering;
  const { canary, wanted } = versions;
  const notServed = rules.find(({ route }) => route.notServed !== undefined)?.route;
  const partsTrouble = parts && partsProblem(rules, draft.name, parts);
  return {
    stable,
    ...(canary && { canary }),
    ...(wanted && { wanted }),
    isAt: (percent) => rules.every((rule) => isAt(rule, percent)),
    isAmong: (percents) => rules.every((rule) => percents.some((percent) => isAt(rule, percent))),
    ...(notServed && { notServed: `${titleOf(notServed)} is not served as it is: ${notServed.notServed}` }),
    ...(percent !== undefined && { asked: percent }),
    has: (which) =>
      which === 'none'
        ? haveParts(rules, draft.name, NO_PARTS)
        : parts === undefined || haveParts(rules, draft.name, parts),
    isNoted: rules.some(({ route }) => noteOn(route, draft.name) !== undefined),
    ...(partsTrouble !== undefined && { partsProblem: partsTrouble }),
    least: traffic.isStableDynamic === true ? shareWithoutPods(draft, stable, rules) : 0,
    endpointsOf: endpointsOf(pass, steering, { endpoints, versions }),
    nowMs: draft.nowMs,
    drainMs: drainOf(traffic, rules),
    isContinued: false,
  };
}

function drainOf({ drainMs }: Traffic, rules: readonly ManagedRule[]): number {
  return drainMs ?? (longestTimeoutMs(rules) || DEFAULT_DRAIN_MS);
}

/** The share that the version may have now; `undefined`: no other than it has. */
function askedShare(
  { draft, outcome, policy }: TrafficPass,
  stable: SetVersion,
  wanted: SetVersion,
): Share | undefined {
  const { set } = wanted;
  // The way to a good version waits for no step.
  if (isGood(set)) return isReadyToServe(draft, set, stable.set) ? WHOLE_SHARE : undefined;
  const { askedShare: share } = outcome;
  if (share === undefined || policy.unclear !== undefined || draft.keepsRevisions) return undefined;
  if (outcome.isHeldByCheck) return undefined;
  return isWholeFor(draft, wanted, share.percent) ? share : undefined;
}

/** Nothing else happens in this pass: until the Service selects this version alone, it would select the pods of others as well. */
function claim(pass: TrafficPass, steering: Steering, version: SetVersion | undefined): PolicyDecision {
  const { draft } = pass;
  if (!version || draft.spec.paused || draft.replicas === 0) return {};
  point(pass, steering, 'stable', version);
  return { limits: { keptWhole: new Set([version.set]) }, ends: true };
}

interface Decided {
  readonly step: TrafficStep<SetVersion>;
  readonly asked: Share | undefined;
  readonly parts: OwnParts | undefined;
}

function carryOut(pass: TrafficPass, steering: Steering, { asked, parts: wanted, step }: Decided): void {
  const { draft, outcome } = pass;
  if (step.kind === 'move') {
    point(pass, steering, step.which, step.to);
    if (step.noted) noteWeight(draft, step.noted.set, undefined);
  }
  if (step.kind === 'note') noteWeight(draft, step.noted.set, step.note);
  if (step.kind === 'weigh') {
    const { isFirst, percent } = step;
    const parts = step.parts === 'asked' ? wanted : NO_PARTS;
    const { names: services, rules } = steering;
    for (const write of routeWrites(rules, { deployment: draft.name, services, percent, parts, isFirst }))
      pass.writes.routes.push(write);
    if (step.noted) noteWeight(draft, step.noted.set, step.note);
    const of = step.noted ? `the pods of ${step.noted.set.name}` : `Service "${steering.names.canary}"`;
    const routes = [...new Set(steering.rules.map(({ route }) => titleOf(route)))].join(', ');
    const share = renderShare({ ...(step.parts === 'asked' ? asked : undefined), percent });
    tellEvent(draft, outcome, normal('TrafficWeight', `${routes}: ${share} for ${of}`));
  }
  if (step.kind === 'move' || step.kind === 'note' || step.kind === 'weigh')
    lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
}

/** Makes a Service select one version alone, or makes one that does. */
function point(pass: TrafficPass, { names, rules, services }: Steering, which: Which, to: SetVersion): void {
  const { draft, outcome, writes } = pass;
  const { namespace = '' } = draft.observed.metadata;
  const name = names[which];
  const hash = hashOfSet(to.set) ?? '';
  const service = services.find(namespace, name);
  lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
  if (service) {
    writes.services.push(pointAt(service, draft.name, { to: hash, at: draft.now }));
    if (service.selector?.[POD_TEMPLATE_HASH] === hash) return;
    const message = `Service "${name}" selects the pods of ${to.set.name}`;
    return tellEvent(draft, outcome, normal('ServiceSwitched', message));
  }
  const made = portsOfMade(draft.spec, rules, which);
  if ('problem' in made) return;
  writes.madeServices.push(madeService(draft, { name, hash, ports: made.ports }));
  const message = `Service "${name}" was made, and selects the pods of ${to.set.name}`;
  tellEvent(draft, outcome, normal('ServiceCreated', message));
}

/** Requests cannot be steered, or it is not known how: no version begins, and none goes. */
function leaveAsItIs(pass: TrafficPass, found: Exclude<FoundSteering, { kind: 'known' }>): PolicyDecision {
  const { draft, outcome } = pass;
  const latest = latestOf(draft, draft.living);
  const old = activeOf(draft.living).filter((set) => set !== latest);
  if (found.kind === 'unknown' || found.endsUnseen) lookAgainAfter(outcome, UNKNOWN_LOOKS_AGAIN_MS);
  const sizes = new Map(old.map((set) => [set, set.replicas]));
  const limits = {
    keptWhole: new Set(old.filter((set) => set.replicas >= draft.replicas)),
    leastOld: (set: ReplicaSetDraft): number => sizes.get(set) ?? 0,
  };
  const hasBegun = latest !== undefined && latest.replicas > 0;
  const isPlayed = old.length === 0 || hasBegun || draft.keepsRevisions || draft.spec.paused;
  return {
    limits: old.length === 0 ? {} : limits,
    runs: isPlayed ? undefined : (revisionInForce(draft) ?? old.at(-1)),
    afterwards: () => {
      if (!draft.spec.paused && old.length > 0) tellUnsteered(pass, found);
    },
  };
}
