import { parseTimeMs } from '../../../shared/index.js';
import type { WeightNote } from './weight-note.js';

/** A version, as the plan needs to know it. */
export interface Version {
  /** Whether pods of it are ready. */
  readonly serves: boolean;
  /** @default it had no share yet */
  readonly note?: WeightNote;
}

/** The state of a rollout by weights. All of it is in the API, so any process continues from it. */
export interface TrafficView<V extends Version = Version> {
  /** The version that the stable Service selects. */
  readonly stable: V;
  /** The version that the canary Service selects; absent if it selects none alone. */
  readonly canary?: V;
  /** The version that should run; absent before it has a ReplicaSet. */
  readonly wanted?: V;
  /** Whether every rule gives the canary Service exactly this share. */
  readonly isAt: (percent: number) => boolean;
  /** Whether every rule gives it one of these. */
  readonly isAmong: (percents: readonly number[]) => boolean;
  /** Why a route is not served as it is written now. @default all are */
  readonly notServed?: string;
  /** The share that the wanted version may have now, percent. @default what it has */
  readonly asked?: number;
  /** Whether the routes have what the wanted version may have beside its weight, or nothing. */
  readonly has: (parts: Parts) => boolean;
  /** Whether a route says that the rollout leads its requests. */
  readonly isNoted: boolean;
  /** Why they cannot have it. @default they can */
  readonly partsProblem?: string;
  /** The share that the stable version has too few pods for, percent: the canary cannot have less. @default 0 */
  readonly least?: number;
  /** Whether a Service has endpoints of the version that it selects; `unread`: they must be read first. */
  readonly endpointsOf: (which: Which) => 'ready' | 'none' | 'unread';
  readonly nowMs: number;
  readonly drainMs: number;
  /** Whether a person lets the rollout continue although another hand has changed the weights. */
  readonly isContinued: boolean;
}

export type Which = 'stable' | 'canary';

/** The rules and filters of a route beside its weights: those that are asked for, or none. */
export type Parts = 'asked' | 'none';

/** The step of a pass; at most one of the writes that lead requests. */
export type TrafficStep<V extends Version = Version> =
  /** Nothing is to be done with requests. */
  | { readonly kind: 'rest' }
  /** A Service selects another version. Neither has requests, or both have the same pods. */
  | { readonly kind: 'move'; readonly which: Which; readonly to: V; readonly noted?: V }
  /**
   * The rules give the canary Service this share. `isAlone`: no size changes in this pass. `isFirst`: the weights are written before the
   * note as well, since the note may be refused, and a way back must not wait. Otherwise the note comes first, so that no process takes
   * a weight for that of another hand.
   */
  | {
      readonly kind: 'weigh';
      readonly percent: number;
      /** @default none */
      readonly parts?: Parts;
      readonly isFirst: boolean;
      readonly isAlone: boolean;
      readonly noted?: V;
      readonly note?: WeightNote;
    }
  /** The routes have what was asked for: it is noted since when. No note: the rollout is over. */
  | { readonly kind: 'note'; readonly noted: V; readonly note?: WeightNote }
  /** The endpoints of a Service must be read before more can be said. */
  | { readonly kind: 'read'; readonly which: Which }
  /** It waits, and says for what. */
  | { readonly kind: 'wait'; readonly why: Waiting; readonly untilMs?: number };

export type Waiting =
  | { readonly for: 'route'; readonly why: string }
  | { readonly for: 'endpoints'; readonly which: Which }
  | { readonly for: 'drain'; readonly leaves: Which }
  | { readonly for: 'edit' }
  | { readonly for: 'stable-pods' }
  | { readonly for: 'stable-grows' };

/** The next step of a rollout by weights: never a share for a version without ready pods, and the way back before all else. */
export function planTraffic<V extends Version>(view: TrafficView<V>): TrafficStep<V> {
  const { canary, stable, wanted } = view;
  if (!canary) return { kind: 'move', which: 'canary', to: stable };
  if (canary !== stable) return canary === wanted ? goForward(view, canary) : goBack(view, canary);
  if (isTail(stable)) return settle(view);
  // A process has died, or the annotation or the Deployment was away.
  if (!view.has('none') || view.isNoted) return { kind: 'weigh', percent: 0, isFirst: false, isAlone: false };
  if (!wanted || wanted === stable) return { kind: 'rest' };
  return begin(view, wanted);
}

/** Whether the version has all requests by the canary Service, although both Services select it by now. */
export function isTail({ note }: Version): boolean {
  return (note?.percent ?? 0) > 0;
}

/** Whether the canary Service gets no request at all. */
function isBare(view: TrafficView): boolean {
  return view.isAt(0) && view.has('none');
}

/** Both Services select the version that has all requests: they go back to the stable one. */
function settle<V extends Version>(view: TrafficView<V>): TrafficStep<V> {
  const { notServed, stable } = view;
  if (isBare(view))
    return notServed === undefined ? { kind: 'note', noted: stable } : waitForRoute(notServed);
  const endpoints = view.endpointsOf('stable');
  if (endpoints === 'unread') return { kind: 'read', which: 'stable' };
  if (endpoints === 'none') return { kind: 'wait', why: { for: 'endpoints', which: 'stable' } };
  return { kind: 'weigh', percent: 0, isFirst: false, isAlone: false };
}

/** Both Services select the old version: the canary Service may leave it once it has no share. */
function begin<V extends Version>(view: TrafficView<V>, wanted: V): TrafficStep<V> {
  if (!view.isAt(0)) return { kind: 'weigh', percent: 0, isFirst: false, isAlone: false };
  if (view.notServed !== undefined) return waitForRoute(view.notServed);
  return wanted.serves ? { kind: 'move', which: 'canary', to: wanted, noted: wanted } : { kind: 'rest' };
}

/** The canary Service selects a version that should not run: it gives up its share, then it goes. */
function goBack<V extends Version>(view: TrafficView<V>, canary: V): TrafficStep<V> {
  const { stable } = view;
  if (!isBare(view)) {
    // With no other pods the wrong version is better than none.
    if (!stable.serves && canary.serves) return { kind: 'wait', why: { for: 'stable-pods' } };
    return lower(view, canary, { to: 0, parts: 'none', order: { isFirst: true, isAlone: true } });
  }
  return inForce(view, canary, 0) ?? { kind: 'move', which: 'canary', to: stable, noted: canary };
}

function goForward<V extends Version>(view: TrafficView<V>, canary: V): TrafficStep<V> {
  const { stable } = view;
  const { percent, from = percent }: WeightNote = canary.note ?? { percent: 0 };
  if (!canary.serves && !isBare(view) && stable.serves) return weigh(0, canary, ALONE);
  const { asked = canary.serves ? percent : 0 } = view;
  const known = canary.note?.since === undefined ? [from, percent, asked] : [percent, asked];
  if (!view.isAmong(known) && !view.isContinued) return { kind: 'wait', why: { for: 'edit' } };
  if (!view.isAt(asked) || !view.has('asked'))
    return asked < percent
      ? lower(view, canary, { to: asked, parts: 'asked', order: ALONE })
      : raise(view, canary, asked);
  if (asked < 100) return inForce(view, canary, asked, { drains: false }) ?? { kind: 'rest' };
  return inForce(view, canary, 100) ?? { kind: 'move', which: 'stable', to: canary };
}

interface Lowering {
  readonly to: number;
  readonly parts: Parts;
  readonly order: Order;
}

/** The canary keeps the share for which the stable version has no pods yet. */
function lower<V extends Version>(
  view: TrafficView<V>,
  canary: V,
  { order, parts, to }: Lowering,
): TrafficStep<V> {
  const before = canary.note?.percent ?? 0;
  const least = canary.serves ? Math.min(view.least ?? 0, before) : 0;
  if (least <= to) return weigh(to, canary, order, parts);
  if (least < before || !view.has(parts)) return weigh(least, canary, order, parts);
  return { kind: 'wait', why: { for: 'stable-grows' } };
}

function raise<V extends Version>(view: TrafficView<V>, canary: V, percent: number): TrafficStep<V> {
  if (!canary.serves) return { kind: 'rest' };
  if (view.partsProblem !== undefined) return waitForRoute(view.partsProblem);
  const endpoints = isBare(view) ? view.endpointsOf('canary') : 'ready';
  if (endpoints === 'unread') return { kind: 'read', which: 'canary' };
  if (endpoints === 'none') return { kind: 'wait', why: { for: 'endpoints', which: 'canary' } };
  return weigh(percent, canary, { isFirst: false, isAlone: false }, 'asked');
}

interface Order {
  readonly isFirst: boolean;
  readonly isAlone: boolean;
}

const ALONE: Order = { isFirst: false, isAlone: true };

function weigh<V extends Version>(
  percent: number,
  noted: V,
  order: Order,
  parts: Parts = 'none',
): TrafficStep<V> {
  const before = noted.note?.percent ?? 0;
  // A process may have died after it wrote one of several routes.
  const from = before === percent ? noted.note?.from : before;
  return {
    kind: 'weigh',
    percent,
    parts,
    ...order,
    noted,
    note: { percent, ...(from !== undefined && { from }) },
  };
}

/** The steps that are left until the share has been served long enough. */
function inForce<V extends Version>(
  { drainMs, notServed, nowMs }: TrafficView<V>,
  canary: V,
  percent: number,
  { drains = true }: { readonly drains?: boolean } = {},
): TrafficStep<V> | undefined {
  if (notServed !== undefined) return waitForRoute(notServed);
  const { note } = canary;
  if (note?.percent !== percent || note.since === undefined) {
    // A version that never had a share has nothing to drain.
    if (percent === 0 && note === undefined) return undefined;
    return { kind: 'note', noted: canary, note: { percent, since: new Date(nowMs).toISOString() } };
  }
  const untilMs = (parseTimeMs(note.since) ?? 0) + drainMs;
  if (!drains || nowMs >= untilMs) return undefined;
  return { kind: 'wait', why: { for: 'drain', leaves: percent === 0 ? 'canary' : 'stable' }, untilMs };
}

function waitForRoute<V extends Version>(why: string): TrafficStep<V> {
  return { kind: 'wait', why: { for: 'route', why } };
}
