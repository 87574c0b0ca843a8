import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type {
  Condition,
  DeepReadonly,
  Eviction,
  EvictionRequest,
  EvictionResponder,
} from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_FAILED,
  TARGET_EVICTED,
  compareResponders,
  hasEvictionEnded,
  responderStatusOf,
  setCondition,
} from '@rollkeeper/machinery/kubernetes';
import { decideTurns, firstTurns } from './decide-turns.js';
import type { TargetState } from './decide-turns.js';

type ReadableEviction = DeepReadonly<Eviction>;
type ReadableRequest = DeepReadonly<EvictionRequest>;
type EvictionStatus = NonNullable<Eviction['status']>;

/** The target as it is now. */
export interface SeenTarget {
  /** `ended`: the pod still exists, and has succeeded or failed. */
  readonly state: 'there' | 'ended' | 'gone';
  /** The responders that the pod names. They count until the turns have been written. */
  readonly responders: readonly DeepReadonly<EvictionResponder>[];
}

interface Seen {
  readonly eviction: ReadableEviction;
  readonly target: SeenTarget;
  /** All requests for this target. */
  readonly requests: readonly ReadableRequest[];
  /** Whether another eviction of the target is the active one. */
  readonly isDuplicate: boolean;
  readonly nowMs: number;
}

interface Decision {
  readonly status: DeepReadonly<EvictionStatus>;
  readonly recheckMs?: number;
}

/** Limit of the requesters that an eviction names in its status, in its labels and as its owners. */
const MAX_REQUESTERS = 100;
/** The reason of a request or an eviction that was refused before any responder had a turn. */
export const EVICTION_INVALID = 'EvictionInvalid';

/** Whether a request asks for the eviction now. A request that is being deleted does not. */
export function isAsking({ metadata, spec }: ReadableRequest): boolean {
  return metadata.deletionTimestamp === undefined && spec.intent === 'Eviction';
}

/**
 * The next status of an eviction; undefined for one that has ended. Source: computeEvictionStatus in k/k
 * pkg/controller/evictionrequest.
 */
export function decideEviction(seen: Seen): Decision | undefined {
  const { eviction, isDuplicate, nowMs, requests, target } = seen;
  if (hasEvictionEnded(eviction)) return undefined;
  const { generation = 1 } = eviction.metadata;
  const base = { ...eviction.status, observedGeneration: generation };
  if (isDuplicate) {
    const conditions = failed(seen, EVICTION_INVALID, 'Another eviction of the same target is under way');
    return { status: { ...base, ...canceledTurns(eviction), conditions } };
  }
  const isCanceled = !requests.some(isAsking);
  const state: TargetState = target.state !== 'there' ? 'gone' : isCanceled ? 'canceled' : 'there';
  const known = eviction.status?.targetResponders ?? [];
  const before = known.length > 0 ? known.toSorted(compareResponders) : firstTurns(target.responders);
  const { isThrough, recheckMs, responders } = decideTurns(eviction, before, state, nowMs);
  const reports = responders.map(({ name, state: turn }) => {
    const report = responderStatusOf(eviction, name) ?? { name };
    return turn === 'Active' && report.startTime === undefined
      ? { ...report, startTime: toRfc3339(nowMs) }
      : report;
  });
  return {
    status: {
      ...base,
      requesters: requestersOf(eviction, requests),
      targetResponders: responders,
      responders: reports,
      conditions: conditionsOf(seen, state, isThrough),
    },
    ...(recheckMs !== undefined && { recheckMs }),
  };
}

/** Two evictions may both have begun before the cache showed them together. The API refuses a turn that outlasts its eviction. */
function canceledTurns({ status }: ReadableEviction): Pick<DeepReadonly<EvictionStatus>, 'targetResponders'> {
  if (!status?.targetResponders) return {};
  return {
    targetResponders: status.targetResponders.map((turn) =>
      turn.state === 'Active' ? { ...turn, state: 'Canceled' } : turn,
    ),
  };
}

function conditionsOf(seen: Seen, state: TargetState, isThrough: boolean): Condition[] {
  if (state === 'gone')
    return seen.target.state === 'gone'
      ? evicted(seen, 'PodDeleted', 'The pod was deleted')
      : evicted(seen, 'PodTerminal', 'The pod has ended');
  if (state === 'canceled')
    return failed(seen, 'CanceledDueToNoRequesters', 'No requester asks for the eviction any more');
  if (isThrough)
    return failed(seen, 'NoFurtherResponder', 'All responders are done, and the pod is still there');
  return both(seen, ['False', 'AwaitingEviction', ''], ['False', 'AwaitingEviction', '']);
}

type Result = readonly [status: 'True' | 'False', reason: string, message: string];

function evicted(seen: Seen, reason: string, message: string): Condition[] {
  return both(seen, ['True', reason, message], ['False', 'Succeeded', '']);
}

function failed(seen: Seen, reason: string, message: string): Condition[] {
  return both(seen, ['False', 'EvictionFailed', ''], ['True', reason, message]);
}

function both({ eviction, nowMs }: Seen, gone: Result, ended: Result): Condition[] {
  const clock = { now: () => nowMs };
  const { generation = 1 } = eviction.metadata;
  const results = [
    [TARGET_EVICTED, gone],
    [EVICTION_FAILED, ended],
  ] as const;
  return results.reduce<Condition[]>(
    (conditions, [type, [status, reason, message]]) =>
      setCondition(conditions, { type, status, reason, message, observedGeneration: generation }, clock),
    [...(eviction.status?.conditions ?? [])],
  );
}

/**
 * The requesters, the known ones first, then the new ones by name. Of more than a hundred, requesters that have withdrawn are left
 * out first.
 */
function requestersOf(
  { status }: ReadableEviction,
  requests: readonly ReadableRequest[],
): NonNullable<EvictionStatus['requesters']> {
  const asking = new Set(requests.filter(isAsking).map(({ spec }) => spec.requester));
  const before = (status?.requesters ?? []).map(({ name }) => name);
  const isFull = before.length >= MAX_REQUESTERS && before.every((name) => asking.has(name));
  const added = isFull ? [] : requests.map(({ spec }) => spec.requester).toSorted();
  const names = [...new Set([...before, ...added])];
  const withdrawn = names.filter((name) => !asking.has(name));
  const kept = new Set([...names.filter((name) => asking.has(name)), ...withdrawn].slice(0, MAX_REQUESTERS));
  return names
    .filter((name) => kept.has(name))
    .map((name) => ({ name, intent: asking.has(name) ? ('Eviction' as const) : ('Withdrawn' as const) }));
}

/** The labels by which requesters and responders find an eviction, and its owners. */
export interface EvictionMetadata {
  /** A merge patch: null removes a label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly ownerReferences: DeepReadonly<NonNullable<Eviction['metadata']['ownerReferences']>>;
}

const ROLES: ReadonlySet<string> = new Set(['requester', 'responder', 'requester-responder']);

/**
 * The missing metadata of an eviction; undefined if nothing is missing. Owners are never removed here: that is the task of the garbage
 * collector. There are at most a hundred that exist, because one tenant may create any number of requests for a pod. When some of
 * them are deleted, others take their place.
 */
export function decideMetadata(
  eviction: ReadableEviction,
  requests: readonly ReadableRequest[],
): EvictionMetadata | undefined {
  const { labels: current = {}, ownerReferences: owners = [] } = eviction.metadata;
  const labels = missingLabels(current, requests, eviction.status?.targetResponders);
  const known = new Set(owners.map(({ uid }) => uid));
  const living = requests.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const others = living.filter(({ metadata: { uid } }) => uid === undefined || !known.has(uid));
  const room = Math.max(0, MAX_REQUESTERS - (living.length - others.length));
  const added = others.slice(0, room).map(ownerReferenceTo);
  if (labels.length === 0 && added.length === 0) return undefined;
  return { labels: Object.fromEntries(labels), ownerReferences: [...owners, ...added] };
}

function missingLabels(
  current: Readonly<Record<string, string>>,
  requests: readonly ReadableRequest[],
  turns: DeepReadonly<EvictionStatus>['targetResponders'] = [],
): readonly (readonly [name: string, value: string | null])[] {
  const own = Object.keys(current).filter((name) => ROLES.has(current[name] ?? ''));
  const asked = new Set(requests.map(({ spec }) => spec.requester));
  const labelled = own.filter((name) => asked.has(name));
  const requesters = new Set([...new Set([...labelled, ...asked])].slice(0, MAX_REQUESTERS));
  const responders = new Set(turns.map(({ name }) => name));
  const wanted = (name: string): string | null => {
    if (requesters.has(name)) return responders.has(name) ? 'requester-responder' : 'requester';
    return responders.has(name) ? 'responder' : null;
  };
  return [...new Set([...requesters, ...responders, ...own])]
    .filter((name) => (current[name] ?? null) !== wanted(name))
    .map((name) => [name, wanted(name)] as const);
}

/** Requests own the evictions of their target, so an eviction is collected when all of its requests were deleted. */
export function ownerReferenceTo({ metadata }: ReadableRequest) {
  const { name, uid = '' } = metadata;
  return { apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest', name, uid };
}
