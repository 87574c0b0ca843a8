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
  /** `ended`: it is there, and has succeeded or failed. */
  readonly state: 'there' | 'ended' | 'gone';
  /** Its own responders; they count until the turns have been written. */
  readonly responders: readonly DeepReadonly<EvictionResponder>[];
}

interface Seen {
  readonly eviction: ReadableEviction;
  readonly target: SeenTarget;
  /** All of this target. */
  readonly requests: readonly ReadableRequest[];
  /** Another eviction of the target is older, and has not ended. */
  readonly isDuplicate: boolean;
  readonly nowMs: number;
}

interface Decision {
  readonly status: DeepReadonly<EvictionStatus>;
  readonly recheckMs?: number;
}

const MAX_REQUESTERS = 100;

/** Whether a request asks for the eviction now; one that is being deleted does not. */
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
    const message = 'Another eviction of the same target is under way';
    return { status: { ...base, conditions: failed(seen, 'EvictionInvalid', message) } };
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
 * The requesters by name: those that ask first, then the others, those that were there before included. Of more than a
 * hundred, those that have withdrawn are left out first.
 */
function requestersOf(
  { status }: ReadableEviction,
  requests: readonly ReadableRequest[],
): NonNullable<EvictionStatus['requesters']> {
  const asking = new Set(requests.filter(isAsking).map(({ spec }) => spec.requester));
  const before = (status?.requesters ?? []).map(({ name }) => name);
  const names = [...new Set([...before, ...requests.map(({ spec }) => spec.requester).toSorted()])];
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

/** The missing metadata of an eviction; undefined if nothing is missing. Owners are never taken away: that is the collector's. */
export function decideMetadata(
  eviction: ReadableEviction,
  requests: readonly ReadableRequest[],
): EvictionMetadata | undefined {
  const requesters = new Set(requests.map(({ spec }) => spec.requester));
  const responders = new Set(eviction.status?.targetResponders?.map(({ name }) => name));
  const { labels: current = {}, ownerReferences: owners = [] } = eviction.metadata;
  const wanted = (name: string): string | null => {
    if (requesters.has(name)) return responders.has(name) ? 'requester-responder' : 'requester';
    return responders.has(name) ? 'responder' : null;
  };
  const own = Object.keys(current).filter((name) => ROLES.has(current[name] ?? ''));
  const labels = [...new Set([...requesters, ...responders, ...own])]
    .filter((name) => (current[name] ?? null) !== wanted(name))
    .map((name) => [name, wanted(name)] as const);
  const known = new Set(owners.map(({ uid }) => uid));
  const added = requests
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ metadata: { uid } }) => uid === undefined || !known.has(uid))
    .map(ownerReferenceTo);
  if (labels.length === 0 && added.length === 0) return undefined;
  return { labels: Object.fromEntries(labels), ownerReferences: [...owners, ...added] };
}

/** A request owns the evictions that were made for it: they go when all of them have gone. */
export function ownerReferenceTo({ metadata }: ReadableRequest) {
  const { name, uid = '' } = metadata;
  return { apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest', name, uid };
}
