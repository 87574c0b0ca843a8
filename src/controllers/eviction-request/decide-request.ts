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
import { EVICTION_INVALID, isAsking, ownerReferenceTo } from './decide-eviction.js';

type ReadableEviction = DeepReadonly<Eviction>;
type ReadableRequest = DeepReadonly<EvictionRequest>;

interface Seen {
  readonly request: ReadableRequest;
  /** All requests for its target, itself included. */
  readonly requests: readonly ReadableRequest[];
  /** The evictions of its target that say something about it, see {@link answering}. */
  readonly evictions: readonly ReadableEviction[];
  /** The UID of the pod with the target's name; undefined if there is none. */
  readonly podUid: string | undefined;
  /** Whether another eviction of the namespace has this name. */
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
        [EVICTION_FAILED, 'True', EVICTION_INVALID, problem],
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

/** Whether the result of a request is final: its pod is gone, or it was refused. A request that was canceled may ask again. */
export function isOver({ status }: ReadableRequest): boolean {
  return isConditionTrue(status?.conditions, TARGET_EVICTED) || isRefused(status?.conditions);
}

function isRefused(conditions: DeepReadonly<Condition[]> | undefined): boolean {
  const failed = findCondition(conditions, EVICTION_FAILED);
  return failed?.status === 'True' && failed.reason === EVICTION_INVALID;
}

function isFailed({ status }: ReadableEviction): boolean {
  return isConditionTrue(status?.conditions, EVICTION_FAILED);
}

/**
 * The evictions whose results are copied to the requests for their target. An eviction that was refused says nothing about the
 * target: it is a second one, which a user has created. A request that copied this result would never ask again, because
 * a refused request is final.
 */
export function answering(evictions: readonly ReadableEviction[]): readonly ReadableEviction[] {
  return evictions.filter(({ status }) => !isRefused(status?.conditions));
}

/** The eviction that has succeeded; else the active one; else the one that failed last. */
function relevantOf(evictions: readonly ReadableEviction[]): ReadableEviction | undefined {
  const succeeded = evictions.find(({ status }) => isConditionTrue(status?.conditions, TARGET_EVICTED));
  return succeeded ?? activeOf(evictions) ?? first(evictions, (a, b) => byFailure(b, a));
}

/**
 * The active eviction of a target. All others that have not ended are duplicates. One whose responders have begun goes before an
 * older one, so that an eviction made by hand never interrupts a responder.
 */
export function activeOf(evictions: readonly ReadableEviction[]): ReadableEviction | undefined {
  const open = evictions.filter((each) => !hasEvictionEnded(each));
  return first(open, (a, b) => Number(hasBegun(b)) - Number(hasBegun(a)) || byAge(a, b));
}

/** Whether its responders have got their turns. */
function hasBegun({ status }: ReadableEviction): boolean {
  return (status?.targetResponders ?? []).length > 0;
}

/** A target may have as many evictions as its requesters have changed their minds, so they are not sorted. */
function first(
  evictions: readonly ReadableEviction[],
  compare: (a: ReadableEviction, b: ReadableEviction) => number,
): ReadableEviction | undefined {
  let found: ReadableEviction | undefined;
  for (const each of evictions) if (!found || compare(each, found) < 0) found = each;
  return found;
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

/**
 * Returns `pod-1-web`, or the name with the next free number. A long name of a pod is cut off at its end to leave room. Pods whose names
 * begin alike then share their numbers, which is harmless: `spec.target` says which pod it is, and the name only informs.
 */
function freeName(podName: string, isTaken: Seen['isTaken']): string {
  for (let number = 1; ; number++) {
    const name = withoutEnd(`pod-${number}-${podName}`.slice(0, LONGEST_NAME));
    if (!isTaken(name)) return name;
  }
}

/** The name of an object ends with a letter or a digit. */
function withoutEnd(name: string): string {
  let end = name.length;
  while ('-.'.includes(name.charAt(end - 1))) end--;
  return name.slice(0, end);
}
