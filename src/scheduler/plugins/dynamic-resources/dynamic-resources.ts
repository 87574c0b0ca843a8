import { compileNodeTerms } from '@rollkeeper/machinery/kubernetes';
import type { NodeMatcher } from '@rollkeeper/machinery/kubernetes';
import type { CompileDeviceSelector } from '../../framework/device-selector.js';
import type { ReadableNode } from '../../framework/node-info.js';
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
import type { ClaimAllocation } from './allocate-claims.js';
import { allocateClaims } from './allocate-claims.js';
import { allocatedDevices } from './allocated-devices.js';
import { DeviceMatcher } from './device-matcher.js';
import { claimEvents } from './claim-events.js';
import { claimsOf, isFreeFor, isInUse } from './pod-claims.js';
import type { DeviceClass, ReadableClaim, ResourceSlice } from './resource-api.js';

const NAME = 'DynamicResources';
const NOT_HERE = 'resourceclaim not available on the node';
const ELSEWHERE = unresolvable(NOT_HERE);
const CANNOT_ALLOCATE = unresolvable('cannot allocate all claims');
/** The more alternatives a request could have fallen back on and did not, the better. */
const MOST_ALTERNATIVES = 8;

export interface ClaimsState {
  readonly claims: readonly ReadableClaim[];
  /** Where the claims that are allocated can be used. */
  readonly places: readonly { readonly claim: ReadableClaim; readonly isReachable: NodeMatcher }[];
  /** What the others would get on a node; worked out once. */
  readonly allocationOn: (node: ReadableNode) => readonly ClaimAllocation[] | undefined;
}

/** PreFilter came to this plug-in, and there was nothing to allocate. */
const NO_CLAIMS: ClaimsState = { claims: [], places: [], allocationOn: () => [] };

/** Keeps pods to nodes where their resource claims have devices, or can get them. */
export const dynamicResources: PluginFactory = (
  _args,
  { compileDeviceSelector = withoutSelectors, view },
) => {
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
      if (claims.length === 0) return { status: SKIP, state: NO_CLAIMS };
      const obstacle = obstacleOf(claims, context);
      if (obstacle !== undefined) return { status: unresolvable(obstacle), state: NO_CLAIMS };
      return { state: stateOf(claims, context, compileDeviceSelector) };
    },
    filter({ node }, _context, { allocationOn, places }) {
      if (!allocationOn(node)) return CANNOT_ALLOCATE;
      return places.every(({ isReachable }) => isReachable(node)) ? undefined : ELSEWHERE;
    },
    postFilter: (context, state) => postFilter(context, state),
    preScore: (_context, _feasible, state) => ({ state: state ?? NO_CLAIMS }),
    score({ node }, _context, { allocationOn }) {
      return (allocationOn(node) ?? []).reduce((sum, allocation) => sum + scoreOf(allocation), 0);
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

function stateOf(
  claims: readonly ReadableClaim[],
  { view }: SchedulingContext,
  compile: CompileDeviceSelector,
): ClaimsState {
  const places = claims.flatMap((claim) => {
    const selector = claim.status?.allocation?.nodeSelector;
    return selector ? [{ claim, isReachable: compileNodeTerms(selector) }] : [];
  });
  const pending = claims.filter(({ status }) => !status?.allocation);
  if (pending.length === 0) return { claims, places, allocationOn: () => [] };
  const slices = view.list<ResourceSlice>('resource.k8s.io/resourceslices');
  const allocated = allocatedDevices(view);
  const matcher = new DeviceMatcher(compile);
  const known = new Map<string, readonly ClaimAllocation[] | undefined>();
  return {
    claims,
    places,
    allocationOn(node) {
      const { name } = node.metadata;
      if (!known.has(name))
        known.set(name, allocateClaims({ claims: pending, node, slices, allocated, matcher, view }));
      return known.get(name);
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

/** A claim that is allocated elsewhere and that no other pod has can be taken back, so that it is allocated anew. */
function postFilter(context: PostFilterContext, state: ClaimsState | undefined): PostFilterResult {
  // A plug-in before this one ended PreFilter: kube-scheduler fails here, and tries no preemption.
  if (!state) return { status: { code: 'Error', reasons: ['not found'] } };
  if (state.claims.length === 0) return { status: unschedulable('no new claims to deallocate') };
  const { pod, random } = context;
  const isElsewhere = (status: Status | undefined): boolean =>
    status?.plugin === NAME && status.reasons.includes(NOT_HERE);
  const nodes = context.snapshot.nodes.filter(({ name }) => isElsewhere(context.refusals.get(name)));
  const free = state.places.filter(
    ({ claim, isReachable }) => isFreeFor(claim, pod.pod) && nodes.some(({ node }) => !isReachable(node)),
  );
  const chosen = free[Math.floor(random.next() * free.length)];
  if (!chosen) return { status: unschedulable('still not schedulable') };
  return {
    status: unschedulable('deallocation of ResourceClaim completed'),
    deallocate: { namespace: chosen.claim.metadata.namespace ?? '', name: chosen.claim.metadata.name },
  };
}
