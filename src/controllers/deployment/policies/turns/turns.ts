import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Lister } from '@rollkeeper/runtime';
import type { Annotations } from '../../kubernetes/annotations.js';
import { TURN, parsePriority } from './settings.js';
import { annotationOf } from '../common/names.js';
import { isTime, readJson } from '../../../shared/index.js';

/** The place of a rollout in the queue, on its Deployment. */
export interface Turn {
  /** The hash of the template that it is about. */
  readonly template: string;
  /** RFC 3339. */
  readonly asked: string;
  /**
   * The number of this turn within its namespace, counted from those that were under way when it was asked for: a
   * namespace with many has high ones, and another namespace's first comes before them.
   */
  readonly round: number;
  /** Since when it may roll out, RFC 3339. @default it waits */
  readonly granted?: string;
}

/** A Deployment in the queue, or rolling out. */
export interface QueuedRollout {
  readonly namespace: string;
  readonly name: string;
  readonly priority: number;
  readonly turn: Turn;
}

/** How many may roll out at once. @default any number */
export interface TurnLimits {
  readonly cluster?: number;
  readonly namespaceOf: (namespace: string) => number | undefined;
}

/** The queue of rollouts, as the caches show it. */
export interface TurnSource {
  /** How many may roll out at once in the cluster. @default any number: the Namespaces' limits alone count */
  readonly clusterLimit?: number;
  queued(): readonly QueuedRollout[];
}

/** `off`: nothing gives turns. */
export type Turns = TurnSource | 'off';

/** Name of the index that finds the Deployments with a turn. */
export const TURN_INDEX = 'rollout-turns';
const ALL = 'all';

export function turnIndex({ metadata }: DeepReadonly<Deployment>): readonly string[] {
  return metadata.annotations?.[TURN] === undefined ? [] : [ALL];
}

export function queuedIn(...listers: readonly Lister<Deployment>[]): readonly QueuedRollout[] {
  return listers.flatMap((lister) => lister.byIndex(TURN_INDEX, ALL).flatMap(queuedRollout));
}

/** One that is paused or being deleted neither waits nor holds anything up. */
export function queuedRollout({ metadata, spec }: DeepReadonly<Deployment>): QueuedRollout[] {
  const turn = readTurn(metadata.annotations ?? {});
  if (!turn || spec.paused || metadata.deletionTimestamp !== undefined) return [];
  const { annotations = {}, name, namespace = '' } = metadata;
  const priority = parsePriority(annotations[annotationOf('rollout-priority')] ?? '') ?? 0;
  return [{ namespace, name, priority, turn }];
}

/** The round of one that asks now: after its namespace's others, and not before those that roll out. */
export function nextRound(namespace: string, queued: readonly QueuedRollout[]): number {
  const own = queued.filter((each) => each.namespace === namespace);
  const rolling = queued.filter(({ turn }) => turn.granted !== undefined);
  const highest = [...own, ...rolling].reduce((most, { turn }) => Math.max(most, turn.round), 0);
  return Math.min(highest + 1, HIGHEST_ROUND);
}

/**
 * When each namespace was last given a turn, as a number that grows. It is not part of what users can write, so no round or time on a
 * Deployment keeps another namespace waiting for ever.
 */
export type ServedNamespaces = ReadonlyMap<string, number>;

/** A user may write a turn: rounds are never counted beyond this, and equal ones go by time. */
const HIGHEST_ROUND = 1_000_000_000;

/**
 * The waiting rollouts, in the order of their turns. Within a namespace the higher priority comes first, and of equal ones the
 * earlier request. Between namespaces the round decides, which a priority does not change: a rollout that moves to the front
 * gets the round of the one that it moved.
 */
export function orderOfTurns(
  queued: readonly QueuedRollout[],
  served: ServedNamespaces = new Map(),
): readonly QueuedRollout[] {
  const waiting = queued.filter(({ turn }) => turn.granted === undefined);
  const placed = [...Map.groupBy(waiting, ({ namespace }) => namespace).values()].flatMap((own) => {
    const rounds = own.map(({ turn }) => turn.round).sort((a, b) => a - b);
    return own.toSorted(byPriority).map((rollout, index) => {
      const last = index === 0 ? served.get(rollout.namespace) : undefined;
      return { rollout, index, last: last ?? 0, round: rounds[index] ?? 0 };
    });
  });
  const isFirst = ({ index }: { readonly index: number }): number => (served.size > 0 && index > 0 ? 1 : 0);
  return placed
    .sort(
      (a, b) =>
        isFirst(a) - isFirst(b) || a.last - b.last || a.round - b.round || byTime(a.rollout, b.rollout),
    )
    .map(({ rollout }) => rollout);
}

/**
 * The rollouts whose turn it is: as many of the first as the limits leave room for. One whose namespace is full lets others pass. A
 * namespace holds no more of the cluster's places than its own limit: users can write more turns that look granted.
 */
export function decideTurns(
  queued: readonly QueuedRollout[],
  limits: TurnLimits,
  served?: ServedNamespaces,
): readonly QueuedRollout[] {
  const rolling = queued.filter(({ turn }) => turn.granted !== undefined);
  const inNamespace = new Map<string, number>();
  for (const { namespace } of rolling) inNamespace.set(namespace, (inNamespace.get(namespace) ?? 0) + 1);
  let left = limits.cluster ?? Infinity;
  for (const [namespace, count] of inNamespace)
    left -= Math.min(count, limits.namespaceOf(namespace) ?? Infinity);
  const next: QueuedRollout[] = [];
  for (const rollout of orderOfTurns(queued, served)) {
    if (left <= 0) break;
    const { namespace } = rollout;
    const count = inNamespace.get(namespace) ?? 0;
    if (count >= (limits.namespaceOf(namespace) ?? Infinity)) continue;
    inNamespace.set(namespace, count + 1);
    left--;
    next.push(rollout);
  }
  return next;
}

/** The rollouts before a waiting one: others that wait, and those that roll out. */
export interface PlaceInQueue {
  readonly waitingBefore: number;
  /** `shop/api`; the last of those before it. */
  readonly behind?: string;
}

/** @param isShared whether all namespaces share the limit, or only its own counts */
export function placeInQueue(
  { name, namespace }: Pick<QueuedRollout, 'name' | 'namespace'>,
  queued: readonly QueuedRollout[],
  isShared: boolean,
): PlaceInQueue {
  const counted = queued.filter((each) => isShared || each.namespace === namespace);
  const order = orderOfTurns(counted);
  const index = order.findIndex((each) => each.namespace === namespace && each.name === name);
  const before = index < 0 ? order : order.slice(0, index);
  const rolling = counted.filter(({ turn }) => turn.granted !== undefined).toSorted(byTime);
  const last = before.at(-1) ?? rolling.at(-1);
  return { waitingBefore: before.length, ...(last && { behind: `${last.namespace}/${last.name}` }) };
}

/** `undefined` if there is none, or none that can be read: then it is requested again. */
export function readTurn(annotations: Annotations): Turn | undefined {
  const read = readJson(annotations[TURN]);
  return isTurn(read) ? read : undefined;
}

export function renderTurn({ asked, granted, round, template }: Turn): string {
  return stringifyJson({ template, asked, round, ...(granted !== undefined && { granted }) });
}

function isTurn(value: unknown): value is Turn {
  if (!isJsonObject(value)) return false;
  const { asked, granted, round, template } = value;
  return (
    typeof template === 'string' &&
    template.length <= LONGEST_HASH &&
    isTime(asked) &&
    isRound(round) &&
    (granted === undefined || isTime(granted))
  );
}

const LONGEST_HASH = 64;

function isRound(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= HIGHEST_ROUND;
}

function byPriority(a: QueuedRollout, b: QueuedRollout): number {
  return b.priority - a.priority || a.turn.round - b.turn.round || byTime(a, b);
}

function byTime(a: QueuedRollout, b: QueuedRollout): number {
  return compare(a.turn.asked, b.turn.asked) || compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
