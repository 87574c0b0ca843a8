import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { Priority, ReconcileReason } from '@rollkeeper/runtime/work-queue';

/** Why a run comes: a change, or an earlier run that asked for it. */
type Cause = 'change' | 'requeue' | 'retry' | 'try';

/** A run that comes, at once or later. */
interface Coming {
  readonly cause: Cause;
  readonly priority: Priority;
}

/** The part of a queue's knowledge of one key that decides what an event leads to. */
export interface KeyState {
  /** The run that waits; while the key runs, the one after that. */
  readonly next?: Coming;
  /** The run in progress, with the failures before it. */
  readonly running?: Coming & { readonly retries: number; readonly comesBack: boolean };
  /** The earliest run that is to come later. Hours are only compared. */
  readonly timer?: Coming & { readonly inHours: number };
  readonly failures: number;
  readonly isParked: boolean;
}

export const KEY_EVENTS = [
  /** A change is added. */
  'add',
  /** A former leader adds a change. */
  'add of a former leader',
  /** A change is added with a delay. */
  'add later',
  /** The timer is due. */
  'timer',
  /** A worker takes the key. */
  'take',
  /** The run ends well. */
  'done',
  /** The run ends well and asks for another one later. */
  'requeue after',
  /** The run ends through no fault of the key. */
  'come back',
  /** The run fails. */
  'retry',
  /** The run fails, and no retry resolves it. */
  'park',
  /** The run ends without a decision. */
  'lost',
] as const;
export type KeyEvent = (typeof KEY_EVENTS)[number];

/** The failures in a row after which the next one parks a key. */
export const MAX_RETRIES = 1;

export const REASON_OF: Readonly<Record<Cause, ReconcileReason>> = {
  change: 'user-change',
  requeue: 'requeue',
  retry: 'retry',
  try: 'parked',
};
const RANK: Readonly<Record<Priority, number>> = { high: 1, normal: 2, low: 3 };

/** By what an event adds. The backoff is shorter than any other delay, and the interval of parked keys longer. */
export const LATER = {
  retry: { cause: 'retry', priority: 'normal', inHours: 1 },
  change: { cause: 'change', priority: 'normal', inHours: 2 },
  requeue: { cause: 'requeue', priority: 'normal', inHours: 3 },
  try: { cause: 'try', priority: 'low', inHours: 4 },
} as const;
const CHANGE: Coming = { cause: 'change', priority: 'high' };
const RETRY: Coming = { cause: 'retry', priority: 'normal' };

/** The parts of a key's life: they decide which events are possible, and which part follows. */
type Part = 'idle' | 'waiting' | 'running' | 'running, and once more';

export function partOf({ next, running }: KeyState): Part {
  if (running) return next ? 'running, and once more' : 'running';
  return next ? 'waiting' : 'idle';
}

interface Row {
  readonly event: KeyEvent;
  /** In words. */
  readonly when: string;
  readonly holds: (state: KeyState) => boolean;
  readonly next: (state: KeyState) => KeyState;
}

const always = (): boolean => true;
const runs = ({ running }: KeyState): boolean => running !== undefined;
const isChange = (coming: Coming | undefined): boolean =>
  coming?.cause === 'change' || coming?.cause === 'requeue';
const isSpent = ({ failures }: KeyState): boolean => failures >= MAX_RETRIES;

/**
 * The life of a key in a queue: the state that follows each event. A key of which a run waits is never parked, in
 * whichever order its change and the end of its run come.
 */
export const KEY_TABLE: readonly Row[] = [
  { event: 'add', when: 'always', holds: always, next: (s) => added(s, CHANGE) },
  { event: 'add of a former leader', when: 'always', holds: always, next: (s) => s },
  { event: 'add later', when: 'always', holds: always, next: (s) => delayed(s, LATER.change) },
  {
    event: 'timer',
    when: 'one is set',
    holds: ({ timer }) => timer !== undefined,
    next: ({ timer, ...s }) => (timer ? added(s, timer) : s),
  },
  {
    event: 'take',
    when: 'a run waits, and none is in progress',
    holds: (s) => partOf(s) === 'waiting',
    next: ({ next = CHANGE, ...s }) => ({
      ...s,
      running: { ...coming(next), retries: s.failures, comesBack: isOfRuns(s.timer) },
    }),
  },
  { event: 'done', when: 'it runs', holds: runs, next: (s) => forgotten(ended(s)) },
  {
    event: 'requeue after',
    when: 'it runs, and has not failed before',
    holds: (s) => s.running?.retries === 0,
    next: (s) => delayed(ended(s), LATER.requeue),
  },
  {
    event: 'requeue after',
    when: 'it runs, and has failed before',
    holds: (s) => runs(s) && s.running?.retries !== 0,
    next: (s) => delayed(forgotten(ended(s)), LATER.requeue),
  },
  { event: 'come back', when: 'it runs', holds: runs, next: (s) => added(ended(s), s.running ?? RETRY) },
  {
    event: 'retry',
    when: 'it runs, and has retries left',
    holds: (s) => runs(s) && !isSpent(s),
    next: (s) => delayed({ ...ended(s), failures: s.failures + 1 }, LATER.retry),
  },
  ...(['retry', 'park'] as const).flatMap((event): Row[] => {
    const parks = (s: KeyState): boolean => runs(s) && (event === 'park' || isSpent(s));
    return [
      {
        event,
        when: 'it runs and would be parked, and no run follows',
        holds: (s) => parks(s) && !s.next,
        next: (s) => delayed({ ...ended(s), isParked: true }, LATER.try),
      },
      {
        event,
        when: 'it runs and would be parked, and a change has come: that has all its retries',
        holds: (s) => parks(s) && isChange(s.next),
        next: (s) => ({ ...ended(s), failures: 0 }),
      },
      {
        event,
        when: 'it runs and would be parked, and a run follows that an earlier one asked for: that is the try',
        holds: (s) => parks(s) && s.next !== undefined && !isChange(s.next),
        next: (s) => ({ ...ended(s), next: { cause: 'try', priority: s.next?.priority ?? 'low' } }),
      },
    ];
  }),
  { event: 'lost', when: 'it runs', holds: runs, next: (s) => added(ended(s), RETRY) },
];

export const UNKNOWN_KEY: KeyState = { failures: 0, isParked: false };

/** Undefined if the event cannot happen in this state. */
export function nextKeyState(state: KeyState, event: KeyEvent): KeyState | undefined {
  const rows = KEY_TABLE.filter((row) => row.event === event && row.holds(state));
  if (rows.length > 1) throw new IllegalStateError(`${event}: ${rows.map(({ when }) => when).join(' and ')}`);
  return rows[0]?.next(state);
}

/** A way to an event: the events before it, the state that they lead to, and the one that it leads to. */
export interface KeyWay {
  readonly events: readonly KeyEvent[];
  readonly before: KeyState;
  readonly end: KeyState;
}

/**
 * The events that are played, of all in all states: `all`; once for each sort of state, which is the part of a key's
 * life, its standing, and what comes at once and later; or that without what comes later.
 */
export type KeyCoverage = 'all' | 'sorts' | 'parts';

/** Events in states that can be reached, each by a shortest way. */
export function waysOfKeys(coverage: KeyCoverage = 'all'): readonly KeyWay[] {
  const ways = allWaysOfKeys();
  if (coverage === 'all') return ways;
  const seen = new Set<string>();
  return ways.filter(({ before, events }) => {
    const { failures, isParked, next, timer } = before;
    const later = coverage === 'sorts' ? timer?.cause : undefined;
    const sort = JSON.stringify([events.at(-1), partOf(before), failures, isParked, next?.cause, later]);
    const isNew = !seen.has(sort);
    seen.add(sort);
    return isNew;
  });
}

function allWaysOfKeys(): readonly KeyWay[] {
  const known = new Set([textOf(UNKNOWN_KEY)]);
  const open: Pick<KeyWay, 'events' | 'end'>[] = [{ events: [], end: UNKNOWN_KEY }];
  const ways: KeyWay[] = [];
  for (const { end: before, events } of open) {
    for (const event of KEY_EVENTS) {
      const end = nextKeyState(before, event);
      if (!end) continue;
      const way = { events: [...events, event], before, end };
      ways.push(way);
      if (known.has(textOf(end))) continue;
      known.add(textOf(end));
      open.push(way);
    }
  }
  return ways;
}

function textOf({ failures, isParked, next, running, timer }: KeyState): string {
  return JSON.stringify([failures, isParked, next, running, timer]);
}

/** A run is added: it joins the one that waits, and takes the key out of the parked ones. */
function added(state: KeyState, add: Coming): KeyState {
  // A retry on its way when the key was parked is its try.
  const cause = state.isParked && add.cause === 'retry' ? 'try' : add.cause;
  const own: Coming = { cause, priority: add.priority };
  const renews = isChange(own) && (state.isParked || state.next?.cause === 'try');
  const overtakes = !state.next || RANK[own.priority] < RANK[state.next.priority];
  return {
    ...state,
    isParked: false,
    failures: renews ? 0 : state.failures,
    next: overtakes ? own : state.next,
  };
}

/** A run is added for later: the earliest counts, and a change that meets another cause stays one. */
function delayed(state: KeyState, add: NonNullable<KeyState['timer']>): KeyState {
  const { timer } = state;
  if (!timer) return { ...state, timer: add };
  const [first, other] = timer.inHours <= add.inHours ? [timer, add] : [add, timer];
  const kept = isOfRuns(first) && !isOfRuns(other) ? other : first;
  return { ...state, timer: { ...coming(kept), inHours: first.inHours } };
}

/** The run has ended; the one that waits is next. */
function ended({ running: _, ...state }: KeyState): KeyState {
  return state;
}

/** The key is well: no failures, and nothing comes later that only earlier runs asked for. */
function forgotten({ timer, ...state }: KeyState): KeyState {
  return { ...state, failures: 0, ...(timer && !isOfRuns(timer) ? { timer } : {}) };
}

function isOfRuns(later: Coming | undefined): boolean {
  return later !== undefined && later.cause !== 'change';
}

function coming({ cause, priority }: Coming): Coming {
  return { cause, priority };
}
