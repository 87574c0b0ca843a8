import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { diedAtMs, diedBeforeReady, hasBeenReady, isShortText, parseTimeMs } from '../shared/index.js';
import type { CompiledReplicaSetControllerOptions } from './replicaset.options.js';

type ReadablePod = DeepReadonly<Pod>;

/** Pods of a ReplicaSet that died before they were ready, since the last one that became ready. */
export interface FailureSeries {
  /** Rounds of creations without success: the pods that were created before the first of them died are one round. */
  readonly rounds: number;
  readonly pods: number;
  /** Why the newest of them died: `OutOfcpu`. */
  readonly reason: string;
  /** When the newest of them was created, epoch milliseconds of the API server. */
  readonly createdMs: number;
  /** Delay from the newest death to the next creation, milliseconds. */
  readonly delayMs: number;
  /** No pods are created before this time, epoch milliseconds. */
  readonly untilMs: number;
  /** Its last round is that of pods that were created since, in case they die and leave unseen. */
  readonly isArmed?: true;
}

interface DeadPod {
  readonly pod: ReadablePod;
  readonly createdMs: number;
  readonly diedMs: number;
}

interface SeriesInput {
  /** All pods of the ReplicaSet, including ended ones. */
  readonly pods: readonly ReadablePod[];
  /** The series that an earlier sync stored, because some of its pods were about to leave the API. @default nothing */
  readonly stored?: FailureSeries;
  readonly nowMs: number;
  readonly options: Pick<
    CompiledReplicaSetControllerOptions,
    'failureBackoff' | 'rejectionBackoffBaseMs' | 'rejectionBackoffMaxMs'
  >;
}

/**
 * The ReplicaSet's pods that died before they were ready; undefined if there are none, or if a later one became ready.
 * Without a delay, pods would be created as fast as the API server accepts them (kubernetes#72593).
 *
 * The delay doubles with each round, and is measured from the newest death. Example, base 1 s: after the 1st round 1 s,
 * after the 4th 8 s, never more than the maximum. The series follows from the pods in the API, so that it survives the
 * process. Only what the pods cannot show any more has to be stored.
 */
export function decideFailureSeries(input: SeriesInput): FailureSeries | undefined {
  const { nowMs, options, pods } = input;
  if (!options.failureBackoff) return undefined;
  const corpses = pods.filter(diedBeforeReady);
  if (corpses.length === 0 && !input.stored) return undefined;
  const readyMs = latest(pods.filter(hasBeenReady).map(createdAtMs));
  const dead = corpses
    .map((pod) => ({ pod, createdMs: createdAtMs(pod), diedMs: diedAtMs(pod) }))
    .filter(({ createdMs }) => createdMs > readyMs)
    .sort((a, b) => a.createdMs - b.createdMs);
  const before = stillCounting(input.stored, { readyMs, dead, nowMs, options });
  const fresh = before ? dead.filter(({ createdMs }) => createdMs > before.createdMs) : dead;
  const [first] = fresh;
  if (!first) return before;
  const newest = fresh.reduce((last, each) => (each.diedMs >= last.diedMs ? each : last), first);
  const rounds = roundsOf(dead, fresh, before, nowMs);
  const delayMs = delayOf(rounds, options);
  return {
    rounds,
    pods: (before?.pods ?? 0) + fresh.length,
    reason: reasonOf(newest.pod),
    createdMs: latest(fresh.map(({ createdMs }) => createdMs)),
    delayMs,
    // A clock that was ahead must not make us wait for longer than the delay.
    untilMs: Math.min(newest.diedMs, nowMs) + delayMs,
  };
}

/** Remaining delay of creations, milliseconds; undefined if pods may be created now. */
export function creationsHeldMs(
  series: FailureSeries | undefined,
  missing: number,
  nowMs: number,
): number | undefined {
  if (!series || missing <= 0) return undefined;
  const leftMs = Math.min(series.untilMs - nowMs, series.delayMs);
  return leftMs > 0 ? leftMs : undefined;
}

/**
 * The series to store. While creations are held back: dead pods may leave the API at once, as those do that are deleted for
 * a taint. When pods are created: the next round counts as begun, or pods that die and leave between two syncs would be
 * replaced as fast as the first ones.
 */
export function seriesToStore(
  series: FailureSeries | undefined,
  { creates, isHeld, nowMs, options, stored }: StoreInput,
): FailureSeries | undefined {
  if (!series) return undefined;
  if (creates > 0) {
    const rounds = series.rounds + 1;
    const delayMs = delayOf(rounds, options);
    return { ...series, rounds, delayMs, untilMs: nowMs + delayMs, isArmed: true };
  }
  return isHeld || stored ? series : undefined;
}

interface StoreInput extends Pick<SeriesInput, 'nowMs' | 'options' | 'stored'> {
  /** How many pods this sync creates. */
  readonly creates: number;
  /** Whether it creates none because of the series. */
  readonly isHeld: boolean;
}

/** A series as stored; undefined if there is none, or it is unreadable. */
export function parseFailureSeries(stored: unknown): FailureSeries | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { createdMs, delayMs, isArmed, pods, reason, rounds, untilMs } = stored;
  if (!isShortText(reason)) return undefined;
  const numbers = { createdMs, delayMs, pods, rounds, untilMs };
  if (!hasNumbers(numbers)) return undefined;
  return { ...numbers, reason, ...(isArmed === true && { isArmed }) };
}

function hasNumbers<Name extends string>(
  values: Readonly<Record<Name, unknown>>,
): values is Readonly<Record<Name, number>> {
  return Object.values(values).every((value) => Number.isFinite(value));
}

/** A stored series ends with a ready pod, and long after its last death. */
function stillCounting(
  stored: FailureSeries | undefined,
  {
    dead,
    nowMs,
    options,
    readyMs,
  }: Pick<SeriesInput, 'nowMs' | 'options'> & {
    readonly dead: readonly DeadPod[];
    readonly readyMs: number;
  },
): FailureSeries | undefined {
  if (!stored || readyMs >= stored.createdMs) return undefined;
  const isForgotten = nowMs > stored.untilMs + 2 * options.rejectionBackoffMaxMs;
  return isForgotten && dead.length === 0 ? undefined : stored;
}

function roundsOf(
  dead: readonly DeadPod[],
  fresh: readonly DeadPod[],
  before: FailureSeries | undefined,
  nowMs: number,
): number {
  if (!before) return countRounds(dead);
  // A pod that dies while creations are held back belongs to the round that is held.
  const isCounted = before.isArmed === true || nowMs < before.untilMs;
  const added = isCounted ? 0 : countRounds(fresh);
  return Math.max(before.rounds + added, countRounds(dead));
}

/** A pod that was created after the first death of a round replaces it, and begins the next one. Oldest first. */
function countRounds(dead: readonly DeadPod[]): number {
  let rounds = 0;
  let firstDeathMs = -Infinity;
  for (const { createdMs, diedMs } of dead) {
    const isReplacement = createdMs > firstDeathMs;
    if (isReplacement) rounds += 1;
    firstDeathMs = isReplacement ? diedMs : Math.min(firstDeathMs, diedMs);
  }
  return rounds;
}

function delayOf(
  rounds: number,
  { rejectionBackoffBaseMs, rejectionBackoffMaxMs }: SeriesInput['options'],
): number {
  return doublingDelayMs(rounds - 1, { firstMs: rejectionBackoffBaseMs, longestMs: rejectionBackoffMaxMs });
}

function reasonOf({ status }: ReadablePod): string {
  const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason;
  const reason = status?.reason ?? disruption ?? '';
  return reason === '' ? 'Failed' : reason;
}

function createdAtMs({ metadata }: ReadablePod): number {
  return parseTimeMs(metadata.creationTimestamp) ?? 0;
}

/** 0 without any. */
function latest(times: readonly number[]): number {
  return times.reduce((last, time) => Math.max(last, time), 0);
}
