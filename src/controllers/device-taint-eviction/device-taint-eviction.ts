import type { DeepReadonly, Taint, Toleration } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, keyOf, toDouble, tolerates } from '@rollkeeper/machinery/kubernetes';
import { Pod, watch, ResourceClaim, ResourceSlice } from '@rollkeeper/runtime';
import type { ObjectRef } from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController, deleteDisrupted, parseTimeMs } from '../shared/index.js';

import { hasClaims } from '../resource-claim/decide-claims.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableClaim = DeepReadonly<ResourceClaim>;
type ReadableSlice = DeepReadonly<ResourceSlice>;
type DeviceTaint = Taint & { readonly timeAdded?: string };
type AddedTaint = Taint & { readonly timeAdded: string | undefined };

const MESSAGE = 'Device Taint manager: deleting due to NoExecute taint';

/** Pods by the keys of the claims that they are consumers of are found by the claims themselves. */
function consumersOf({ metadata, status }: ReadableClaim): ObjectRef[] {
  return (status?.reservedFor ?? [])
    .filter(({ apiGroup, resource }) => !apiGroup && resource === 'pods')
    .map(({ name }) => ({ namespace: metadata.namespace, name }));
}

/**
 * Deletes pods whose devices have `NoExecute` taints that their claims do not tolerate, or no longer. Source: k/k
 * pkg/controller/devicetainteviction.
 */
export const deviceTaintEvictionController = clusterController<Pod>({
  name: 'device-taint-eviction',
  for: Pod,
  trims: WHOLE_PODS,
  predicates: [({ object, type }) => type === 'added' && hasClaims(object)],
  watches: [
    watch(ResourceClaim, consumersOf, ({ type }) => type !== 'deleted'),
    watch(
      ResourceSlice,
      (slice, listerOf) =>
        listerOf(ResourceClaim)
          .list()
          .filter((claim) => usesPool(claim, slice))
          .flatMap(consumersOf),
      ({ object, type }) =>
        type !== 'deleted' && (object.spec.devices ?? []).some(({ taints }) => taints?.length),
    ),
  ],
  async reconcile(_request, { client, clock, events, lister, object: pod }) {
    if (!pod || pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod)) return {};
    const claims = lister(ResourceClaim)
      .list()
      .filter((claim) => consumersOf(claim).some((ref) => keyOf(ref) === keyOf(pod.metadata)));
    const dueMs = decideDeviceEviction(pod, claims, lister(ResourceSlice).list(), clock.now());
    if (dueMs === undefined) return {};
    if (dueMs > clock.now()) return { requeueAfterMs: dueMs - clock.now() };
    events.record(pod, {
      type: 'Normal',
      reason: 'DeviceTaintManagerEviction',
      message: 'Marking for deletion',
    });
    await deleteDisrupted(client, clock, pod, { reason: 'DeletionByDeviceTaintManager', message: MESSAGE });
    return {};
  },
});

function usesPool({ status }: ReadableClaim, { spec }: ReadableSlice): boolean {
  return (status?.allocation?.devices?.results ?? []).some(
    ({ driver, pool }) => driver === spec.driver && pool === spec.pool.name,
  );
}

/** When a pod has to go for the taints of its devices, epoch milliseconds; undefined: never. */
export function decideDeviceEviction(
  pod: ReadablePod,
  claims: readonly ReadableClaim[],
  slices: readonly ReadableSlice[],
  nowMs: number,
): number | undefined {
  if (!pod.spec.nodeName) return undefined;
  const dues = claims
    .filter(({ status }) => status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid))
    .flatMap(({ status }) => status?.allocation?.devices?.results ?? [])
    .flatMap(({ device, driver, pool, tolerations = [] }) =>
      taintsOf({ device, driver, pool }, slices).map((taint) =>
        dueOf(taint, tolerations as readonly Toleration[], nowMs),
      ),
    );
  const first = Math.min(Infinity, ...dues);
  return first === Infinity ? undefined : first;
}

/**
 * Only the newest generation of a pool counts. API servers say when a taint was added; without that the slice's creation
 * counts, because a moment that moves on would never be over.
 */
function taintsOf(
  { device, driver, pool }: { readonly device: string; readonly driver: string; readonly pool: string },
  slices: readonly ReadableSlice[],
): readonly AddedTaint[] {
  const own = slices.filter(({ spec }) => spec.driver === driver && spec.pool.name === pool);
  const newest = Math.max(0, ...own.map(({ spec }) => toDouble(spec.pool.generation)));
  return own
    .filter(({ spec }) => toDouble(spec.pool.generation) === newest)
    .flatMap(({ metadata, spec }) =>
      (spec.devices ?? [])
        .filter(({ name }) => name === device)
        .flatMap(({ taints = [] }) => taints as readonly DeviceTaint[])
        .map((taint) => ({ ...taint, timeAdded: taint.timeAdded ?? metadata.creationTimestamp })),
    )
    .filter(({ effect }) => effect === 'NoExecute');
}

function dueOf(taint: AddedTaint, tolerations: readonly Toleration[], nowMs: number): number {
  const tolerated = tolerations.filter((toleration) => tolerates(toleration, taint));
  const sinceMs = parseTimeMs(taint.timeAdded) ?? nowMs;
  if (tolerated.length === 0) return sinceMs;
  const seconds = tolerated.map(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? Infinity : Math.max(0, toDouble(tolerationSeconds)),
  );
  return sinceMs + Math.min(...seconds) * 1000;
}
