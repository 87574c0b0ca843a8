import type {
  DeepReadonly,
  Eviction,
  EvictionResponder,
  ResponderState,
  ResponderStatus,
  TargetResponder,
} from '@rollkeeper/machinery/kubernetes';
import {
  HEARTBEAT_DEADLINE_MS,
  IMPERATIVE_EVICTOR,
  compareResponders,
  responderStatusOf,
} from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../shared/index.js';

type ReadableEviction = DeepReadonly<Eviction>;
type Turn = DeepReadonly<TargetResponder>;

/** The state of an eviction's target. `gone` includes pods that have ended. `canceled`: no requester asks for the eviction. */
export type TargetState = 'there' | 'gone' | 'canceled';

/** The turns of the responders. */
export interface Turns {
  readonly responders: readonly Turn[];
  /** Whether all have had their turn. */
  readonly isThrough: boolean;
  /** When the active responder loses its turn unless it gives a sign of life, milliseconds from now. */
  readonly recheckMs?: number;
}

/** The turns of a new eviction: those of the responders that the pod names, and of the last responder, which every pod has. */
export function firstTurns(responders: readonly DeepReadonly<EvictionResponder>[]): readonly Turn[] {
  return [...responders, IMPERATIVE_EVICTOR]
    .map(({ name, priority }) => ({ name, priority, state: 'Inactive' as const }))
    .toSorted(compareResponders);
}

/**
 * The next turns, from the highest priority to the lowest. A responder passes its turn on when it reports its completion, or when it
 * gives no sign of life for 20 minutes. Source: computeResponderProgression in k/k pkg/controller/evictionrequest.
 * @param turns in the order of their priority
 */
export function decideTurns(
  eviction: ReadableEviction,
  turns: readonly Turn[],
  target: TargetState,
  nowMs: number,
): Turns {
  const isThrough = turns.every(({ state }) => state !== 'Active' && state !== 'Inactive');
  const active = turns.findIndex(({ state }) => state === 'Active');
  if (isThrough || (target !== 'there' && active < 0)) return { responders: turns, isThrough };
  const at = active < 0 ? turns.findIndex(({ state }) => state === 'Inactive') : active;
  const report = responderStatusOf(eviction, turns[at]?.name ?? '');
  if (target === 'canceled') return { responders: withState(turns, at, 'Canceled'), isThrough };
  if (report?.completionTime !== undefined) return passedOn(turns, at, 'Completed', target);
  if (target === 'gone') return { responders: withState(turns, at, 'Interrupted'), isThrough };
  const leftMs = leftOf(report, nowMs);
  if (leftMs <= 0) return passedOn(turns, at, 'Interrupted', target);
  return { responders: withState(turns, at, 'Active'), isThrough, recheckMs: leftMs };
}

/** The time until the heartbeat of a responder is overdue, milliseconds. A new turn has the whole time. */
function leftOf(report: DeepReadonly<ResponderStatus> | undefined, nowMs: number): number {
  const aliveMs = parseTimeMs(report?.heartbeatTime ?? report?.startTime) ?? nowMs;
  return aliveMs + HEARTBEAT_DEADLINE_MS - nowMs;
}

function passedOn(turns: readonly Turn[], at: number, state: ResponderState, target: TargetState): Turns {
  const ended = withState(turns, at, state);
  const next = at + 1;
  if (target !== 'there' || next >= turns.length) return { responders: ended, isThrough: false };
  const responders = withState(ended, next, 'Active');
  return { responders, isThrough: false, recheckMs: HEARTBEAT_DEADLINE_MS };
}

function withState(turns: readonly Turn[], at: number, state: ResponderState): readonly Turn[] {
  return turns.map((turn, index) => (index === at ? { ...turn, state } : turn));
}
