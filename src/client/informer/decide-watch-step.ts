import { ApiProtocolError, ApiStatusError, WatchErrorEvent, isExpired } from '../api-client/index.js';
import { compareResourceVersions } from '@rollkeeper/machinery/kubernetes';

/**
 * How to list: streamed as the start of a watch, if the server can; in pages; in small pages, if pages were too large;
 * or, after pages have expired, in one piece.
 */
export type ListWay = 'streamed' | 'pages' | 'small-pages' | 'whole';

/**
 * The reflector's next action: list everything; watch from a resourceVersion; or, before resuming a broken watch, check
 * that the server still has that version and everything before it.
 */
export type ReflectorState =
  | { readonly step: 'list'; readonly way: ListWay }
  | { readonly step: 'watch'; readonly resourceVersion: string }
  | { readonly step: 'check'; readonly resourceVersion: string };

/**
 * Why a list or a watch failed.
 * - `expired`: the resourceVersion or continue token is too old (410)
 * - `gap`: an ERROR event, a resourceVersion that the server does not understand, or a nonsensical answer
 * - `too-large`: the answer exceeds the size limit
 * - `not-streamed`: the server does not stream lists
 * - `refused`: an answer that a retry does not change (401, 403, 404, 500)
 * - `unavailable`: no answer, a broken or silent connection, or a busy server (429, 503, 504)
 */
export type FailureKind = 'expired' | 'gap' | 'too-large' | 'not-streamed' | 'refused' | 'unavailable';

/** The newest version that a watch brought, or its first one, and how long it lasted. */
interface WatchLife {
  readonly resourceVersion: string;
  readonly livedMs: number;
}

export type StepOutcome =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  /** `way`: the one that was used, which may differ from the requested one. */
  | { readonly type: 'list-failed'; readonly way: ListWay; readonly failure: FailureKind }
  /** `early`: before the agreed time, as when a server shuts down. */
  | ({ readonly type: 'watch-ended'; readonly early: boolean } & WatchLife)
  | ({ readonly type: 'watch-failed'; readonly failure: FailureKind } & WatchLife)
  /** We ended it ourselves: see {@link decideDoubt}. */
  | ({ readonly type: 'watch-doubted'; readonly so: 'list' | 'watch' } & WatchLife)
  | { readonly type: 'checked'; readonly present: string }
  | { readonly type: 'check-failed'; readonly failure: FailureKind };

export interface WatchStep {
  readonly next: ReflectorState;
  /** Continue immediately, or after the next backoff. */
  readonly wait: 'none' | 'backoff';
  /** The connection was good for long enough to reset the backoff (before `wait` is applied). */
  readonly healthy: boolean;
}

export const INITIAL_STATE: ReflectorState = { step: 'list', way: 'streamed' };

/** A watch that lasted this long proves a healthy server. */
const HEALTHY_AFTER_MS = 5_000;
/** A shorter watch is not repeated immediately, or a confused server would be called in a hot loop. */
const SHORT_WATCH_MS = 1_000;

/** The list-and-watch protocol: maps state and outcome to the next state. Pure. */
export function decideWatchStep(state: ReflectorState, outcome: StepOutcome): WatchStep {
  switch (outcome.type) {
    case 'listed':
      // A list alone is no proof of health: a working list and a failing watch would alternate without a pause.
      return { next: watchFrom(outcome.resourceVersion), wait: 'none', healthy: false };
    case 'list-failed':
      return afterFailedList(state, outcome);
    case 'watch-ended': {
      const { early, livedMs, resourceVersion } = outcome;
      const next = early ? checkOf(resourceVersion) : watchFrom(resourceVersion);
      const wait = livedMs < SHORT_WATCH_MS ? 'backoff' : 'none';
      return { next, wait, healthy: livedMs >= HEALTHY_AFTER_MS };
    }
    case 'watch-failed':
      return afterFailedWatch(outcome.failure, outcome);
    case 'watch-doubted': {
      const next = outcome.so === 'list' ? INITIAL_STATE : watchFrom(outcome.resourceVersion);
      return { next, wait: 'none', healthy: false };
    }
    case 'checked':
      return { next: afterCheck(state, outcome.present), wait: 'none', healthy: false };
    case 'check-failed':
      return {
        next: outcome.failure === 'unavailable' ? state : INITIAL_STATE,
        wait: 'backoff',
        healthy: false,
      };
  }
}

/** Classifies an error of the API client. */
export function classifyFailure(error: unknown): FailureKind {
  if (isExpired(error)) return 'expired';
  if (error instanceof WatchErrorEvent) return 'gap';
  if (error instanceof ApiProtocolError) return error.tooLarge ? 'too-large' : 'gap';
  if (!(error instanceof ApiStatusError)) return 'unavailable';
  if (error.code === 400) return 'gap';
  return isUnavailable(error.code) ? 'unavailable' : 'refused';
}

/** Whether a server that answers with this HTTP status may answer otherwise soon. */
export function isUnavailable(code: number): boolean {
  return [429, 502, 503, 504].includes(code);
}

/**
 * The reaction when a wait for a version timed out and the server has reported its current version: list again if the
 * server went back or the versions are incomparable; watch again if it is ahead of a silent watch, and list if that watch is silent as
 * well: a server whose newer versions are of other types says nothing on a new watch, and a wait for one of them would never end;
 * otherwise wait.
 * @param shown the cache's version
 * @param isAgain whether a watch from this version was begun again before, without anything that arrived
 */
export function decideDoubt({
  isAgain = false,
  isSilent,
  present,
  shown,
}: {
  readonly isAgain?: boolean;
  readonly shown: string;
  readonly present: string;
  readonly isSilent: boolean;
}): 'list' | 'watch' | 'wait' {
  const order = compareResourceVersions(present, shown);
  if (order === undefined || order < 0) return 'list';
  if (order === 0 || !isSilent) return 'wait';
  return isAgain ? 'list' : 'watch';
}

function afterFailedList(
  state: ReflectorState,
  { failure, way }: Extract<StepOutcome, { type: 'list-failed' }>,
): WatchStep {
  const listAgain = (next: ListWay, wait: WatchStep['wait'] = 'backoff'): WatchStep => ({
    next: { step: 'list', way: next },
    wait,
    healthy: false,
  });
  switch (failure) {
    case 'unavailable':
      return { next: state, wait: 'backoff', healthy: false };
    case 'not-streamed':
      return listAgain('pages', 'none');
    case 'too-large':
      return listAgain('small-pages');
    default:
      // Pages are less demanding for a server and its proxies.
      if (way === 'streamed') return listAgain('pages');
      // If small pages were needed, one piece would be too large again.
      return listAgain(failure === 'expired' && way === 'pages' ? 'whole' : way);
  }
}

function afterFailedWatch(failure: FailureKind, { livedMs, resourceVersion }: WatchLife): WatchStep {
  const healthy = livedMs >= HEALTHY_AFTER_MS;
  switch (failure) {
    case 'expired':
    case 'gap':
    case 'too-large':
    case 'not-streamed':
      return { next: INITIAL_STATE, wait: healthy ? 'none' : 'backoff', healthy };
    case 'refused':
      // As in client-go: the list shows more clearly what is wrong, or that all is well again.
      return { next: INITIAL_STATE, wait: 'backoff', healthy };
    case 'unavailable':
      return { next: checkOf(resourceVersion), wait: 'backoff', healthy };
  }
}

/**
 * A server restored from a backup does not know the version any more: it would accept the watch and send nothing until
 * it reaches that version again. Opaque versions cannot be compared; such a server has to refuse unknown ones.
 */
function afterCheck(state: ReflectorState, present: string): ReflectorState {
  if (state.step !== 'check') return INITIAL_STATE;
  const order = compareResourceVersions(present, state.resourceVersion);
  return order !== undefined && order < 0 ? INITIAL_STATE : watchFrom(state.resourceVersion);
}

function watchFrom(resourceVersion: string): ReflectorState {
  return { step: 'watch', resourceVersion };
}

function checkOf(resourceVersion: string): ReflectorState {
  return { step: 'check', resourceVersion };
}
