import { isNotFound } from '@rollkeeper/runtime';
import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf, asSent } from '@rollkeeper/machinery/kubernetes';
import type { ReadablePod } from '../framework/node-info.js';
import type { FreedClaim, PluginFactory, SchedulerPlugin, SchedulingContext } from '../framework/plugin.js';
import { unschedulable } from '../framework/status.js';
import { allocationOf } from '../plugins/dynamic-resources/allocation-result.js';
import type { ClaimsState, DeviceOffer } from '../plugins/dynamic-resources/dynamic-resources.js';
import { isOffer } from '../plugins/dynamic-resources/dynamic-resources.js';
import { isReservedFor } from '../plugins/dynamic-resources/pod-claims.js';
import type { Allocation, ReadableClaim, ResourceClaim } from '../plugins/dynamic-resources/resource-api.js';
import { queueKeyOf } from '../queue/queued-pod.js';
import { compileArgs, dynamicResourcesArgs } from '../plugins/plugin-args.js';
import type { AssumedObjects } from './assumed-objects.js';
import type { ExtendedClaims, ReservedResources } from './bind-extended-claim.js';
import type { ChangeSignal } from './change-signal.js';
import { deleteClaim, writeAllocated } from './claim-writes.js';
import { TerminalError } from '@rollkeeper/machinery/errors';
import type { ClusterView } from '../framework/cluster-view.js';
import { bindingStateOf, hasBindingConditions } from '../plugins/dynamic-resources/binding-conditions.js';

interface AwaitedDevices {
  readonly view: ClusterView;
  readonly clock: Pick<Clock, 'monotonicNow'>;
  readonly changes: ChangeSignal;
  /** Records as the scheduler of that name. */
  readonly eventsOf: (schedulerName: string) => EventRecorder;
}

const POLL_MS = 5_000;

/**
 * Waits until drivers have prepared the devices of claims for the pod's node, where any device asks for that. Source: PreBind in k/k
 * pkg/scheduler/framework/plugins/dynamicresources.
 * @throws TerminalError once a driver reports that it cannot, or after `timeoutMs`
 */
async function awaitDevices(
  { changes, clock, eventsOf, view }: AwaitedDevices,
  {
    claims,
    node,
    pod,
  }: { readonly claims: readonly ReadableClaim[]; readonly node: string; readonly pod: ReadablePod },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const awaited = claims.filter(hasBindingConditions);
  if (awaited.length === 0) return;
  const message = `waiting for binding conditions for device on node ${node}`;
  const note = { type: 'Normal', reason: 'BindingConditionsPending', action: 'Scheduling', message } as const;
  eventsOf(pod.spec.schedulerName ?? 'default-scheduler').record(pod, note);
  const deadlineMs = clock.monotonicNow() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    if (awaited.every((claim) => isReady(claim, view))) return;
    const leftMs = deadlineMs - clock.monotonicNow();
    if (leftMs <= 0) throw new TerminalError('device binding timeout: context deadline exceeded');
    await changes.next(Math.min(POLL_MS, leftMs), signal);
  }
}

function isReady({ metadata }: ReadableClaim, view: ClusterView): boolean {
  const claim = view.get<ResourceClaim>('resource.k8s.io/resourceclaims', metadata);
  // One that was created a moment ago may not be seen yet.
  if (!claim) return false;
  const state = bindingStateOf(claim);
  if (state.is === 'failed') throw new TerminalError(`device binding failed: ${state.why}`);
  return state.is === 'ready';
}

interface ClaimParts {
  readonly client: ApiClient;
  /** Undefined where the server has none: then no pod has any. */
  readonly claims: ResourceType | undefined;
  readonly assumed: AssumedObjects;
  readonly newShareId: () => string;
  /** The pod is going to this node, which others should know while it waits. */
  readonly expectNode: (pod: ReadablePod, node: string, signal: AbortSignal) => void;
  /** The claims of extended resources. */
  readonly extended: ExtendedClaims;
  readonly clock: Pick<Clock, 'monotonicNow' | 'now'>;
  readonly changes: ChangeSignal;
  readonly eventsOf: (schedulerName: string) => EventRecorder;
}

/** The devices that are taken for a pod until it is bound. */
interface Taken {
  /** The claims of the pod that are to change, as they are to become. */
  readonly changed: readonly ResourceClaim[];
  /** The claims that are its own already. */
  readonly kept: readonly ReadableClaim[];
  readonly extended: ReservedResources | undefined;
}

const RESOURCE = 'resource.k8s.io/resourceclaims';

/** `DynamicResources` with what it does once a node is chosen: it allocates claims, and reserves them for the pod. */
export function bindingClaims(base: PluginFactory, parts: ClaimParts): PluginFactory {
  return (args, handle) => {
    const plugin = base(args, handle) as SchedulerPlugin<ClaimsState, ClaimsState>;
    const { bindingTimeout } = compileArgs(dynamicResourcesArgs, args);
    const taken = new Map<string, Taken>();
    const bound: SchedulerPlugin<ClaimsState, ClaimsState> = {
      ...plugin,
      reserve(context, node) {
        const { state } = plugin.preFilter?.(context) ?? {};
        const info = context.snapshot.get(node);
        if (!state || !info || (state.claims.length === 0 && !state.wantsResources))
          return Promise.resolve(undefined);
        const offer = state.offerOn(info);
        if (!isOffer(offer))
          return Promise.resolve(unschedulable('the devices of the node are taken meanwhile'));
        const what = take(context, state, offer, parts);
        taken.set(queueKeyOf(context.pod.pod), what);
        return Promise.resolve(undefined);
      },
      unreserve({ pod: { pod } }) {
        const { changed = [], extended } = taken.get(queueKeyOf(pod)) ?? {};
        taken.delete(queueKeyOf(pod));
        for (const { metadata } of changed) parts.assumed.restore(RESOURCE, metadata);
        if (extended) parts.extended.giveBack(extended);
      },
      async preBind({ pod: { pod } }, node, signal) {
        const key = queueKeyOf(pod);
        const what = taken.get(key);
        const { assumed: view, claims: type, client } = parts;
        if (!type || !what) return undefined;
        const { changed, extended, kept } = what;
        if (changed.length > 0 || extended) parts.expectNode(pod, node, signal);
        for (const claim of changed) await writeAllocated(client, type, claim, signal);
        // From here on they are so, even if the cache does not show it yet.
        taken.set(key, { ...what, changed: [] });
        const made = extended ? [await parts.extended.bind(pod, extended, signal)] : [];
        const claims = [...kept, ...changed, ...made];
        await awaitDevices({ ...parts, view }, { pod, node, claims }, bindingTimeout, signal);
        return undefined;
      },
      postBind({ pod: { pod } }) {
        taken.delete(queueKeyOf(pod));
      },
    };
    return bound;
  };
}

function take(
  { pod: { pod } }: SchedulingContext,
  { claims }: ClaimsState,
  { allocations, extended }: DeviceOffer,
  { assumed, clock, extended: ofResources, newShareId }: ClaimParts,
): Taken {
  const allocationTimestamp = toRfc3339(clock.now());
  const found = new Map(
    allocations.map((each) => {
      const allocation = { ...allocationOf(each, newShareId), allocationTimestamp };
      return [keyOf(each.claim.metadata), allocation];
    }),
  );
  const changed = claims.flatMap((claim) => {
    const allocation = claim.status?.allocation ?? found.get(keyOf(claim.metadata));
    return allocation && !(claim.status?.allocation && isReservedFor(claim, pod))
      ? [reserved(claim, allocation, pod)]
      : [];
  });
  for (const claim of changed) assumed.assume(RESOURCE, claim);
  const kept = claims.filter((claim) => !changed.some(({ metadata }) => metadata.uid === claim.metadata.uid));
  const allocation = extended && found.get(keyOf(extended.claim.metadata));
  if (!allocation) return { changed, kept, extended: undefined };
  const { claim, mappings } = extended;
  return { changed, kept, extended: ofResources.take(reserved(claim, allocation, pod), mappings) };
}

/** Releases the devices of a claim, so that they can be allocated again where there is room. */
export async function freeClaim(
  { assumed, claims: type, client }: Pick<ClaimParts, 'assumed' | 'claims' | 'client'>,
  { isDeleted, name, namespace }: FreedClaim,
  signal: AbortSignal,
): Promise<void> {
  const claim = assumed.get<ResourceClaim>(RESOURCE, { namespace, name });
  if (!type || !claim) return;
  try {
    if (isDeleted) await deleteClaim(client, type, asSent<ResourceClaim>(claim), signal);
    else
      await client.update(type, deallocated(asSent<ResourceClaim>(claim)), { subresource: 'status', signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function deallocated(claim: ResourceClaim): ResourceClaim {
  const {
    allocation: _allocation,
    devices: _devices,
    reservedFor: _reservedFor,
    ...status
  } = claim.status ?? {};
  return { ...claim, status };
}

function reserved(
  claim: ReadableClaim,
  allocation: Allocation,
  { metadata: { name, uid = '' } }: ReadablePod,
): ResourceClaim {
  const others = (claim.status?.reservedFor ?? []).filter((each) => each.uid !== uid);
  const reservedFor = [...others, { resource: 'pods', name, uid }];
  return asSent<ResourceClaim>({ ...claim, status: { ...claim.status, allocation, reservedFor } });
}
