import type { Condition, DeepReadonly, Eviction, EvictionRequest } from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_FAILED,
  TARGET_EVICTED,
  findCondition,
  hasEvictionEnded,
  isConditionTrue,
  setCondition,
} from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../shared/index.js';
import { isAsking, ownerReferenceTo } from './decide-eviction.js';

type ReadableEviction = DeepReadonly<Eviction>;
type ReadableRequest = DeepReadonly<EvictionRequest>;

interface Seen {
  readonly request: ReadableRequest;
  /** All of its target, itself included. */
  readonly requests: readonly ReadableRequest[];
  /** All of its target. */
  readonly evictions: readonly ReadableEviction[];
  /** The UID of the pod with the target's name; undefined if there is none. */
  readonly podUid: string | undefined;
  /** Whether an eviction of the namespace has this name. */
  readonly isTaken: (name: string) => boolean;
  readonly nowMs: number;
}

interface Decision {
  readonly status: NonNullable<EvictionRequest['status']>;
  /** The eviction to make. */
  readonly creates?: Eviction;
}

const LONGEST_NAME = 253;

/**
 * The status of a request, and the eviction to make for it; undefined for a request with a final result. Source:
 * syncEvictionRequest in k/k pkg/controller/evictionrequest.
 */
export function decideRequest(seen: Seen): Decision | undefined {
  const { evictions, podUid, request, requests } = seen;
  const { pod } = request.spec.target;
  if (isOver(request) || !pod) return undefined;
  if (evictions.length === 0 && podUid !== pod.uid) {
    const problem =
      podUid === undefined ? `Pod ${pod.name} was not found` : `Pod ${pod.name} has another UID, ${podUid}`;
    return {
      status: statusOf(seen, [
        [TARGET_EVICTED, 'False', 'EvictionFailed', ''],
        [EVICTION_FAILED, 'True', 'EvictionInvalid', problem],
      ]),
    };
  }
  const relevant = relevantOf(evictions);
  const copied = [TARGET_EVICTED, EVICTION_FAILED].map((type): Result => {
    const found = relevant && findCondition(relevant.status?.conditions, type);
    if (!found) return [type, 'False', 'AwaitingEviction', 'Waiting for the eviction to begin'];
    return [type, found.status, found.reason, found.message];
  });
  const isOpen = relevant === undefined || isFailed(relevant);
  const creates = isOpen && podUid === pod.uid && requests.some(isAsking);
  return { status: statusOf(seen, copied), ...(creates && { creates: newEviction(seen, pod) }) };
}

/** Gone, or invalid from the beginning. A request that was canceled may ask again. */
export function isOver({ status }: ReadableRequest): boolean {
  if (isConditionTrue(status?.conditions, TARGET_EVICTED)) return true;
  const failed = findCondition(status?.conditions, EVICTION_FAILED);
  return failed?.status === 'True' && failed.reason === 'EvictionInvalid';
}

function isFailed({ status }: ReadableEviction): boolean {
  return isConditionTrue(status?.conditions, EVICTION_FAILED);
}

/** The eviction that has succeeded; else the oldest one that goes on; else the one that failed last. */
export function relevantOf(evictions: readonly ReadableEviction[]): ReadableEviction | undefined {
  const succeeded = evictions.find(({ status }) => isConditionTrue(status?.conditions, TARGET_EVICTED));
  return succeeded ?? oldestActive(evictions) ?? evictions.toSorted(byFailure).at(-1);
}

/** The oldest eviction that has not ended: the others of its target are duplicates. */
export function oldestActive(evictions: readonly ReadableEviction[]): ReadableEviction | undefined {
  return evictions.filter((each) => !hasEvictionEnded(each)).toSorted(byAge)[0];
}

function byAge({ metadata: a }: ReadableEviction, { metadata: b }: ReadableEviction): number {
  const byTime = (parseTimeMs(a.creationTimestamp) ?? 0) - (parseTimeMs(b.creationTimestamp) ?? 0);
  return byTime || (a.name < b.name ? -1 : 1);
}

function byFailure(a: ReadableEviction, b: ReadableEviction): number {
  const timeOf = ({ status }: ReadableEviction): number =>
    parseTimeMs(findCondition(status?.conditions, EVICTION_FAILED)?.lastTransitionTime) ?? 0;
  return timeOf(a) - timeOf(b) || byAge(a, b);
}

type Result = readonly [type: string, status: Condition['status'], reason: string, message: string];

function statusOf(
  { nowMs, request }: Seen,
  results: readonly Result[],
): NonNullable<EvictionRequest['status']> {
  const { generation = 1 } = request.metadata;
  const conditions = results.reduce<Condition[]>(
    (list, [type, status, reason, message]) =>
      setCondition(
        list,
        { type, status, reason, message, observedGeneration: generation },
        { now: () => nowMs },
      ),
    [...(request.status?.conditions ?? [])],
  );
  return { ...request.status, observedGeneration: generation, conditions };
}

function newEviction(
  { isTaken, request }: Seen,
  pod: DeepReadonly<NonNullable<EvictionRequest['spec']['target']['pod']>>,
): Eviction {
  return {
    ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'Eviction' },
    metadata: {
      name: freeName(pod.name, isTaken),
      namespace: request.metadata.namespace,
      labels: { [request.spec.requester]: 'requester' },
      ownerReferences: [ownerReferenceTo(request)],
    },
    spec: { target: { pod: { name: pod.name, uid: pod.uid } } },
  };
}

/** `pod-1-web`, or the next number that is free. */
function freeName(podName: string, isTaken: Seen['isTaken']): string {
  for (let number = 1; ; number++) {
    const name = `pod-${number}-${podName}`.slice(0, LONGEST_NAME).replace(/[-.]$/, '');
    if (!isTaken(name)) return name;
  }
}
