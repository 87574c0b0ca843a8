import { isNotFound } from '@rollkeeper/runtime';
import type { ApiClient } from '@rollkeeper/runtime';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { unschedulable } from '../framework/status.js';
import { allocationOf } from '../plugins/dynamic-resources/allocation-result.js';
import type { ClaimsState } from '../plugins/dynamic-resources/dynamic-resources.js';
import { isReservedFor } from '../plugins/dynamic-resources/pod-claims.js';
import type { ReadableClaim, ResourceClaim } from '../plugins/dynamic-resources/resource-api.js';
import { queueKeyOf } from '../queue/queued-pod.js';
import type { AssumedObjects } from './assumed-objects.js';

export interface ClaimParts {
  readonly client: ApiClient;
  /** Undefined where the server has none: then no pod has any. */
  readonly claims: ResourceType | undefined;
  readonly assumed: AssumedObjects;
  readonly newShareId: () => string;
  /** The pod is going to this node, which others should know while it waits. */
  readonly expectNode: (pod: ReadablePod, node: string, signal: AbortSignal) => void;
}

const RESOURCE = 'resource.k8s.io/resourceclaims';
/** Keeps an allocated claim from going before its devices are free. */
const PROTECTION = 'resource.kubernetes.io/delete-protection';

/** `DynamicResources` with what it does once a node is chosen: it allocates claims, and reserves them for the pod. */
export function bindingClaims(base: PluginFactory, parts: ClaimParts): PluginFactory {
  return (args, handle) => {
    const plugin = base(args, handle) as SchedulerPlugin<ClaimsState, ClaimsState>;
    const taken = new Map<string, readonly ResourceClaim[]>();
    const bound: SchedulerPlugin<ClaimsState, ClaimsState> = {
      ...plugin,
      reserve(context, node) {
        const { state } = plugin.preFilter?.(context) ?? {};
        const info = context.snapshot.get(node);
        if (!state || !info || state.claims.length === 0) return Promise.resolve(undefined);
        const found = state.allocationOn(info.node);
        if (!found) return Promise.resolve(unschedulable('the devices of the node are taken meanwhile'));
        const allocations = new Map(
          found.map((each) => [keyOf(each.claim.metadata), allocationOf(each, parts.newShareId)]),
        );
        const { pod } = context.pod;
        const changed = state.claims.flatMap((claim) => {
          const allocation = claim.status?.allocation ?? allocations.get(keyOf(claim.metadata));
          return allocation && !(claim.status?.allocation && isReservedFor(claim, pod))
            ? [reserved(claim, allocation, pod)]
            : [];
        });
        for (const claim of changed) parts.assumed.assume(RESOURCE, claim);
        if (changed.length > 0) taken.set(queueKeyOf(pod), changed);
        return Promise.resolve(undefined);
      },
      unreserve({ pod: { pod } }) {
        const changed = taken.get(queueKeyOf(pod)) ?? [];
        taken.delete(queueKeyOf(pod));
        for (const { metadata } of changed) parts.assumed.restore(RESOURCE, metadata);
      },
      async preBind({ pod: { pod } }, node, signal) {
        const changed = taken.get(queueKeyOf(pod)) ?? [];
        const { claims: type, client } = parts;
        if (!type || changed.length === 0) return undefined;
        parts.expectNode(pod, node, signal);
        for (const claim of changed) {
          const kept = await withProtection(client, type, claim, signal);
          await client.update(type, kept, { subresource: 'status', signal });
        }
        taken.delete(queueKeyOf(pod));
        return undefined;
      },
    };
    return bound;
  };
}

/** Takes the allocation of a claim back, that it is allocated anew where there is room. */
export async function deallocateClaim(
  { assumed, claims: type, client }: Pick<ClaimParts, 'assumed' | 'claims' | 'client'>,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const claim = assumed.get<ResourceClaim>(RESOURCE, ref);
  if (!type || !claim) return;
  const { allocation: _allocation, reservedFor: _reservedFor, ...status } = claim.status ?? {};
  const freed = { ...claim, status } as ResourceClaim;
  try {
    await client.update(type, freed, { subresource: 'status', signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function reserved(
  claim: ReadableClaim,
  allocation: NonNullable<NonNullable<ReadableClaim['status']>['allocation']>,
  { metadata: { name, uid = '' } }: ReadablePod,
): ResourceClaim {
  const others = (claim.status?.reservedFor ?? []).filter((each) => each.uid !== uid);
  const reservedFor = [...others, { resource: 'pods', name, uid }];
  return { ...claim, status: { ...claim.status, allocation, reservedFor } } as ResourceClaim;
}

async function withProtection(
  client: ApiClient,
  type: ResourceType,
  claim: ResourceClaim,
  signal: AbortSignal,
): Promise<ResourceClaim> {
  const { finalizers = [] } = claim.metadata;
  if (finalizers.includes(PROTECTION)) return claim;
  const metadata = { ...claim.metadata, finalizers: [...finalizers, PROTECTION] };
  const written = await client.update<ResourceClaim>(type, { ...claim, metadata }, { signal });
  return { ...written, status: claim.status };
}
