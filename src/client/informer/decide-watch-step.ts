import { ApiProtocolError, ApiStatusError, WatchErrorEvent, isExpired } from '../api-client/index.js';
import { compareResourceVersions } from '@rollkeeper/machinery/kubernetes';

/**
 * How everything is listed: streamed as the beginning of a watch, where the server can; in pages; in small pages, where
 * those were too large to be read; or, after pages have expired under it, in one piece.
 */
export type ListWay = 'streamed' | 'pages' | 'small-pages' | 'whole';

/**
 * What the reflector does next: list everything; watch what comes after a resourceVersion; or, before it goes on with a
 * watch that broke, check that the server still has that version and everything before it.
 */
export type ReflectorState =
  | { readonly step: 'list'; readonly way: ListWay }
  | { readonly step: 'watch'; readonly resourceVersion: string }
  | { readonly step: 'check'; readonly resourceVersion: string };

/**
 * Why a list or a watch failed.
 * - `expired`: the resourceVersion or continue token is too old (410)
 * - `gap`: an ERROR event, a resourceVersion that the server does not understand, or an answer that makes no sense
 * - `too-large`: an answer larger than we want to hold at once
 * - `not-streamed`: the server does not stream lists
 * - `refused`: an answer that repeating does not change by itself (401, 403, 404, 500)
 * - `unavailable`: no answer, a broken or silent connection, or a server that is busy (429, 503, 504)
 */
export type FailureKind = 'expired' | 'gap' | 'too-large' | 'not-streamed' | 'refused' | 'unavailable';

/** How a watch was: the newest version that it brought, or the one it began at, and how long it lasted. */
interface WatchLife {
  readonly resourceVersion: string;
  readonly livedMs: number;
}

export type StepOutcome =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  /** `way`: the one that was gone, which need not be the one that was wanted. */
  | { readonly type: 'list-failed'; readonly way: ListWay; readonly failure: FailureKind }
  /** `early`: before the time that was agreed upon, as a server does that shuts down. */
  | ({ readonly type: 'watch-ended'; readonly early: boolean } & WatchLife)
  | ({ readonly type: 'watch-failed'; readonly failure: FailureKind } & WatchLife)
  /** We ended it ourselves: see {@link decideDoubt}. */
  | ({ readonly type: 'watch-doubted'; readonly so: 'list' | 'watch' } & WatchLife)
  | { readonly type: 'checked'; readonly present: string }
  | { readonly type: 'check-failed'; readonly failure: FailureKind };

export interface WatchStep {
  readonly next: ReflectorState;
  /** Begin again at once, or after the next backoff. */
  readonly wait: 'none' | 'backoff';
  /** Things went well for long enough: the backoff starts anew (before `wait` is applied). */
  readonly healthy: boolean;
}

export const INITIAL_STATE: ReflectorState = { step: 'list', way: 'streamed' };

/** A watch that lived this long shows a server in good health. */
export const HEALTHY_AFTER_MS = 5_000;
/** A watch that ends sooner than this is not repeated at once, or a confused server would be asked in a hot loop. */
export const SHORT_WATCH_MS = 1_000;

/** The protocol of list and watch: from where we are and how it ended to what comes next. Pure. */
export function decideWatchStep(state: ReflectorState, outcome: StepOutcome): WatchStep {
  switch (outcome.type) {
    case 'listed':
      // No proof of health: a list that works and a watch that does not would else take turns without a pause.
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

/** What kind of failure an error of the API client is. */
export function classifyFailure(error: unknown): FailureKind {
  if (isExpired(error)) return 'expired';
  if (error instanceof WatchErrorEvent) return 'gap';
  if (error instanceof ApiProtocolError) return error.tooLarge ? 'too-large' : 'gap';
  if (!(error instanceof ApiStatusError)) return 'unavailable';
  if (error.code === 400) return 'gap';
  return [429, 502, 503, 504].includes(error.code) ? 'unavailable' : 'refused';
}

/**
 * What follows when somebody has waited in vain for a version, and the server says where it is now: list again where it has
 * gone back, or where nothing can be told; watch again where it is ahead of a watch on which nothing arrives; else wait.
 * @param shown what the cache shows
 */
export function decideDoubt({
  isSilent,
  present,
  shown,
}: {
  readonly shown: string;
  readonly present: string;
  readonly isSilent: boolean;
}): 'list' | 'watch' | 'wait' {
  const order = compareResourceVersions(present, shown);
  if (order === undefined || order < 0) return 'list';
  return order > 0 && isSilent ? 'watch' : 'wait';
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
      // Pages ask less of a server, and of whatever stands before it.
      if (way === 'streamed') return listAgain('pages');
      // Small ones in one piece would be too large once more.
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
      // As client-go does: the list says more clearly what is wrong, or that all is well again.
      return { next: INITIAL_STATE, wait: 'backoff', healthy };
    case 'unavailable':
      return { next: checkOf(resourceVersion), wait: 'backoff', healthy };
  }
}

/**
 * A server that was restored from a backup does not know the version any more: it would keep the watch open and say nothing
 * until it gets there once more. What is opaque tells nothing; such a server has to refuse what it does not know.
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
