import { compileNodeTerms, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { NodeMatcher } from '@rollkeeper/machinery/kubernetes';
import type { CompileDeviceSelector } from '../../framework/device-selector.js';
import type { NodeInfo } from '../../framework/node-info.js';
import type {
  PluginFactory,
  PostFilterContext,
  PostFilterResult,
  SchedulerPlugin,
  SchedulingContext,
} from '../../framework/plugin.js';
import type { Status } from '../../framework/status.js';
import { SKIP, unresolvable, unschedulable } from '../../framework/status.js';
import { inProportion } from '../normalize.js';
import { compileArgs, dynamicResourcesArgs } from '../plugin-args.js';
import type { ClaimAllocation } from './allocate-claims.js';
import { allocateClaims } from './allocate-claims.js';
import { allocatedDevices } from './allocated-devices.js';
import { bindingStateOf, isBindingOverdue } from './binding-conditions.js';
import { DeviceMatcher } from './device-matcher.js';
import type { ExtendedClaim } from './extended-claim.js';
import { extendedClaimFor, leftExtendedClaim, wantsDeviceResources } from './extended-claim.js';
import { claimsOf, isFreeFor, isInUse } from './pod-claims.js';
import type { DeviceClass, ReadableClaim, ResourceSlice, ResourceClaim } from './resource-api.js';
import type { ClusterEventWithHint } from '../../framework/cluster-event.js';
import type { ClusterView } from '../../framework/cluster-view.js';
import { isSamePod, on, onObjects, onPods } from '../hints.js';

const CLAIMS = 'resource.k8s.io/resourceclaims';

/**
 * The events that may help a pod with claims: they come or change, devices become free or are added, a class is there.
 */
function claimEvents(view: ClusterView): readonly ClusterEventWithHint[] {
  return [
    onObjects<ResourceClaim>(CLAIMS, ['add', 'update', 'delete'], (pod, before, after) => {
      const claims = claimsOf(pod, view);
      if (typeof claims === 'string') return false;
      if (before?.status?.allocation && !after?.status?.allocation) return true;
      if (!after) return false;
      const isOwn = claims.some(({ metadata }) => metadata.uid === after.metadata.uid);
      return isOwn && (!before || !sameJson(before.status, after.status));
    }),
    onPods(
      ['update-pod-generated-resource-claim'],
      (pod, _before, after) =>
        after !== undefined && isSamePod(pod, after) && typeof claimsOf(after, view) !== 'string',
    ),
    // A node may come to have a resource itself that it had no device for.
    on('nodes', 'add', 'update-node-labels', 'update-node-allocatable'),
    on('resource.k8s.io/deviceclasses', 'add', 'update'),
    on('resource.k8s.io/resourceslices', 'add', 'update'),
  ];
}

const NAME = 'DynamicResources';
const NOT_HERE = 'resourceclaim not available on the node';
const ELSEWHERE = unresolvable(NOT_HERE);
const CANNOT_ALLOCATE = unresolvable('cannot allocate all claims');
const LEFT_OVER = unresolvable('cannot schedule extended resource claim');
/** The more alternatives a request could have fallen back on and did not, the better. */
const MOST_ALTERNATIVES = 8;

export interface ClaimsState {
  readonly claims: readonly ReadableClaim[];
  /** The nodes on which the allocated claims can be used. */
  readonly places: readonly { readonly claim: ReadableClaim; readonly isReachable: NodeMatcher }[];
  /** The pod asks for extended resources that device classes provide. */
  readonly wantsResources: boolean;
  /** The claim that an earlier attempt made for these. What it was given may be of no use any more. */
  readonly left?: ReadableClaim;
  /** The offer of a node to the pod, or why there is none; worked out once. */
  readonly offerOn: (node: NodeInfo) => DeviceOffer | Status;
}

/** The devices that claims without an allocation would get on a node. */
export interface DeviceOffer {
  readonly allocations: readonly ClaimAllocation[];
  /** The claim of the pod's extended resources, if devices serve any on the node: the last of the allocations is its. */
  readonly extended?: ExtendedClaim;
}

const NOTHING: DeviceOffer = { allocations: [] };
/** PreFilter came to this plug-in, and there was nothing to allocate. */
const NO_CLAIMS: ClaimsState = { claims: [], places: [], wantsResources: false, offerOn: () => NOTHING };

export function isOffer(found: DeviceOffer | Status): found is DeviceOffer {
  return 'allocations' in found;
}

/** Keeps pods to nodes where their resource claims have devices, or can get them; so too for extended resources that devices serve. */
export const dynamicResources: PluginFactory = (
  args,
  { compileDeviceSelector = withoutSelectors, now = () => 0, view },
) => {
  const { bindingTimeout } = compileArgs(dynamicResourcesArgs, args);
  const isUnusable = (claim: ReadableClaim): boolean =>
    claim.status?.allocation !== undefined &&
    (bindingStateOf(claim).is === 'failed' ||
      (bindingStateOf(claim).is === 'waiting' && isBindingOverdue(claim, now(), bindingTimeout)));
  const plugin: SchedulerPlugin<ClaimsState, ClaimsState> = {
    name: NAME,
    eventsToRegister: claimEvents(view),
    preEnqueue(pod, current) {
      const claims = claimsOf(pod, current);
      return typeof claims === 'string' ? unresolvable(claims) : undefined;
    },
    preFilter(context) {
      const claims = claimsOf(context.pod.pod, context.view);
      if (typeof claims === 'string') return { status: unresolvable(claims), state: NO_CLAIMS };
      const wantsResources = wantsDeviceResources(context.pod, context.view);
      if (claims.length === 0 && !wantsResources) return { status: SKIP, state: NO_CLAIMS };
      const obstacle = obstacleOf(claims, context);
      if (obstacle !== undefined) return { status: unresolvable(obstacle), state: NO_CLAIMS };
      const parts = { claims, wantsResources, isUnusable };
      return { state: stateOf(parts, context, compileDeviceSelector) };
    },
    filter(node, _context, { offerOn, places }) {
      const offer = offerOn(node);
      if (!isOffer(offer)) return offer;
      return places.every(({ isReachable }) => isReachable(node.node)) ? undefined : ELSEWHERE;
    },
    postFilter: (context, state) => postFilter(context, state),
    preScore: (_context, _feasible, state) => ({ state: state ?? NO_CLAIMS }),
    score(node, _context, { offerOn }) {
      const offer = offerOn(node);
      return isOffer(offer) ? offer.allocations.reduce((sum, allocation) => sum + scoreOf(allocation), 0) : 0;
    },
    normalizeScores: inProportion,
  };
  return plugin;
};

function withoutSelectors(): never {
  throw new Error('this scheduler has no evaluator of CEL expressions for device selectors');
}

/** Why the claims keep the pod from every node. */
function obstacleOf(claims: readonly ReadableClaim[], { pod, view }: SchedulingContext): string | undefined {
  for (const claim of claims) {
    if (isInUse(claim, pod.pod)) return 'resourceclaim in use';
    if (claim.status?.allocation) continue;
    for (const { exactly, firstAvailable = [], name } of claim.spec.devices?.requests ?? []) {
      const wanted =
        firstAvailable.length > 0
          ? firstAvailable.map((each) => ({ ...each, name: `${name}/${each.name}` }))
          : [{ ...exactly, name }];
      for (const { deviceClassName = '', name: request } of wanted)
        if (!view.get<DeviceClass>('resource.k8s.io/deviceclasses', { name: deviceClassName }))
          return `request ${request}: device class ${deviceClassName} does not exist`;
    }
  }
  return undefined;
}

interface StateParts {
  readonly claims: readonly ReadableClaim[];
  readonly wantsResources: boolean;
  /** The devices of the claim could not be prepared. */
  readonly isUnusable: (claim: ReadableClaim) => boolean;
}

function stateOf(
  { claims, isUnusable, wantsResources }: StateParts,
  { pod, view }: SchedulingContext,
  compile: CompileDeviceSelector,
): ClaimsState {
  const places = claims.flatMap((claim) => {
    if (isUnusable(claim)) return [{ claim, isReachable: () => false }];
    const selector = claim.status?.allocation?.nodeSelector;
    return selector ? [{ claim, isReachable: compileNodeTerms(selector) }] : [];
  });
  const state = { claims, places, wantsResources };
  const left = wantsResources ? leftExtendedClaim(pod.pod, view) : undefined;
  if (left) return { ...state, left, offerOn: () => LEFT_OVER };
  const pending = claims.filter(({ status }) => !status?.allocation);
  if (pending.length === 0 && !wantsResources) return { ...state, offerOn: () => NOTHING };
  const slices = view.list<ResourceSlice>('resource.k8s.io/resourceslices');
  const shared = { slices, allocated: allocatedDevices(view), matcher: new DeviceMatcher(compile), view };
  const work = (node: NodeInfo): DeviceOffer | Status => {
    const extended = wantsResources ? extendedClaimFor(pod, node, view) : undefined;
    if (extended && 'code' in extended) return extended;
    const wanted = extended ? [...pending, extended.claim] : pending;
    if (wanted.length === 0) return NOTHING;
    const allocations = allocateClaims({ ...shared, claims: wanted, node: node.node });
    return allocations ? { allocations, ...(extended && { extended }) } : CANNOT_ALLOCATE;
  };
  const known = new Map<string, DeviceOffer | Status>();
  return {
    ...state,
    offerOn(node) {
      const offer = known.get(node.name) ?? work(node);
      known.set(node.name, offer);
      return offer;
    },
  };
}

function scoreOf({ requests, taken }: ClaimAllocation): number {
  return requests.reduce(
    (sum, { request }, index) =>
      (request.firstAvailable ?? []).length > 0 ? sum + MOST_ALTERNATIVES - (taken[index] ?? 0) : sum,
    0,
  );
}

/** A claim that is allocated elsewhere and used by no other pod can be deallocated, so that it is allocated again. */
function postFilter(context: PostFilterContext, state: ClaimsState | undefined): PostFilterResult {
  // A plug-in before this one ended PreFilter: kube-scheduler fails here, and tries no preemption.
  if (!state) return { status: { code: 'Error', reasons: ['not found'] } };
  if (state.claims.length === 0 && !state.wantsResources)
    return { status: unschedulable('no new claims to deallocate') };
  const { pod, random } = context;
  const isElsewhere = (status: Status | undefined): boolean =>
    status?.plugin === NAME && status.reasons.includes(NOT_HERE);
  const nodes = context.snapshot.nodes.filter(({ name }) => isElsewhere(context.refusals.get(name)));
  const free = state.places.filter(
    ({ claim, isReachable }) => isFreeFor(claim, pod.pod) && nodes.some(({ node }) => !isReachable(node)),
  );
  const chosen = free[Math.floor(random.next() * free.length)];
  if (chosen)
    return {
      status: unschedulable('deallocation of ResourceClaim completed'),
      deallocate: { ...refOf(chosen.claim), isDeleted: false },
    };
  if (!state.left) return { status: unschedulable('still not schedulable') };
  return {
    status: unschedulable('deletion of ResourceClaim completed'),
    deallocate: { ...refOf(state.left), isDeleted: true },
  };
}

function refOf({ metadata: { name, namespace = '' } }: ReadableClaim) {
  return { namespace, name };
}
