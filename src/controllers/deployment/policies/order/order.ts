import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { parseTimeMs } from '../../../shared/index.js';
import { releaseOf, type OrderedRollout } from './order-source.js';
import { predecessorsOf, readOrderSeen, type OrderSeen, type Predecessor } from './settings.js';

/**
 * How long a rollout without a release looks whether its predecessors change too, milliseconds: `kubectl apply` of a folder writes
 * them one after the other, and the controller may see the last one first.
 */
export const SETTLE_MS = 10_000;

/** Finds a Deployment of the namespace. */
export type FindRollout = (name: string) => OrderedRollout | undefined;

/** A rollout whose order is asked about. */
export interface Follower {
  readonly after: readonly Predecessor[];
  /** @default those that change within {@link SETTLE_MS} change together with it */
  readonly release?: string;
  readonly seen: OrderSeen;
}

/** Why a rollout does not begin yet. */
export interface Unmet {
  readonly name: string;
  /** The end of a sentence that begins with `deployment/NAME`. */
  readonly why: string;
  /** When time alone may end it, epoch milliseconds. @default never */
  readonly endsAtMs?: number;
}

export interface DecidedOrder {
  /** With the predecessors that are found to change together with it. */
  readonly seen: OrderSeen;
  readonly unmet: readonly Unmet[];
}

/** The predecessors that a rollout still waits for. */
export function decideOrder(follower: Follower, find: FindRollout, nowMs: number): DecidedOrder {
  const askedMs = parseTimeMs(follower.seen.asked) ?? nowMs;
  const together = new Set(follower.seen.with);
  const unmet: Unmet[] = [];
  for (const predecessor of follower.after) {
    const { name } = predecessor;
    const rollout = find(name);
    if (!rollout) {
      unmet.push({ name, why: 'does not exist' });
      continue;
    }
    if (follower.release === undefined && isUnderWay(predecessor, rollout, { askedMs, nowMs }))
      together.add(name);
    const why =
      reasonToSettle(follower, rollout, { askedMs, nowMs, isTogether: together.has(name) }) ??
      (isOfSameChange(follower, rollout, together) ? reasonToWait(predecessor, rollout, nowMs) : undefined);
    if (why) unmet.push({ name, ...why });
  }
  return { seen: { ...follower.seen, with: [...together].toSorted() }, unmet };
}

type Why = Omit<Unmet, 'name'>;

interface Times {
  readonly askedMs: number;
  readonly nowMs: number;
}

/** Whether it can be told yet if a predecessor belongs to the same change. */
function reasonToSettle(
  { release }: Follower,
  rollout: OrderedRollout,
  { askedMs, isTogether, nowMs }: Times & { readonly isTogether: boolean },
): Why | undefined {
  if (release !== undefined) {
    const other = releaseOf(rollout.annotations);
    if (other === release) return undefined;
    return { why: `has ${other === undefined ? 'no release' : `release ${other}`}, and not ${release}` };
  }
  const endsAtMs = askedMs + SETTLE_MS;
  if (isTogether || nowMs >= endsAtMs) return undefined;
  return { why: `may change together with it, which is looked at until ${toRfc3339(endsAtMs)}`, endsAtMs };
}

function isOfSameChange(
  { release }: Follower,
  { name }: OrderedRollout,
  together: ReadonlySet<string>,
): boolean {
  return release !== undefined || together.has(name);
}

/** One that ended badly before the follower was asked for belongs to another change. */
function isUnderWay(predecessor: Predecessor, rollout: OrderedRollout, { askedMs, nowMs }: Times): boolean {
  const failedMs = parseTimeMs(rollout.failure?.at);
  if (rollout.state === 'failed' && failedMs !== undefined) return failedMs >= askedMs;
  return reasonToWait(predecessor, rollout, nowMs) !== undefined;
}

/** Why a predecessor has not ended well yet. */
function reasonToWait(
  { forMs, state }: Predecessor,
  rollout: OrderedRollout,
  nowMs: number,
): Why | undefined {
  const { changesAtMs, completeSinceMs, words } = rollout;
  if (rollout.state === 'failed') return { why: withWords('has failed', words) };
  if (rollout.state === 'rolling') return { why: withWords('is not complete', words), endsAtMs: changesAtMs };
  if (rollout.state === 'baking' && state === 'good')
    return { why: withWords('is complete and not good yet', words), endsAtMs: changesAtMs };
  if (completeSinceMs === undefined || completeSinceMs + forMs <= nowMs) return undefined;
  const endsAtMs = completeSinceMs + forMs;
  return { why: `is complete, and is waited for until ${toRfc3339(endsAtMs)}`, endsAtMs };
}

function withWords(why: string, words: string): string {
  return words === '' ? why : `${why}: ${words}`;
}

/** A longer chain is cut in the message. */
const LONGEST_CHAIN = 10;

/** `deployment/api, which waits for deployment/db-schema, which has failed: …`: at the end is the one that holds all others up. */
export function chainOf(unmet: Unmet, find: FindRollout, nowMs: number): string {
  const names = [unmet.name];
  let last = unmet;
  while (names.length < LONGEST_CHAIN) {
    const next = waitOf(find(last.name), find, nowMs);
    if (!next || names.includes(next.name)) break;
    names.push(next.name);
    last = next;
  }
  return `${names.map((name) => `deployment/${name}`).join(', which waits for ')}, which ${last.why}`;
}

/** The first predecessor that another Deployment waits for itself. */
function waitOf(rollout: OrderedRollout | undefined, find: FindRollout, nowMs: number): Unmet | undefined {
  const seen = rollout?.isOrdered ? readOrderSeen(rollout.annotations) : undefined;
  if (!rollout || !seen) return undefined;
  const release = releaseOf(rollout.annotations);
  return decideOrder({ after: predecessorsOf(rollout.annotations), release, seen }, find, nowMs).unmet[0];
}

/** More are not looked at, on the way to a circle. */
const MOST_VISITED = 1000;

/** The names on the way from a Deployment over its predecessors back to itself: `web, api, web`. `undefined` if there is none. */
export function circleOf(
  name: string,
  after: readonly Predecessor[],
  find: FindRollout,
): readonly string[] | undefined {
  const visited = new Set<string>();
  const waysLeft: (readonly string[])[] = [[name]];
  while (visited.size < MOST_VISITED) {
    const way = waysLeft.shift();
    const last = way?.at(-1);
    if (!way || last === undefined) return undefined;
    const next = last === name ? after : predecessorsOf(find(last)?.annotations);
    for (const each of next) {
      if (each.name === name) return [...way, name];
      if (visited.has(each.name)) continue;
      visited.add(each.name);
      waysLeft.push([...way, each.name]);
    }
  }
  return undefined;
}
