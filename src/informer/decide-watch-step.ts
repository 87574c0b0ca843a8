import { ApiStatusError, WatchErrorEvent, isExpired } from '../api-client/index.js';

/**
 * What the reflector does next: list everything, in pages or (after pages have expired under it) in one piece; or
 * watch what comes after a resourceVersion.
 */
export type ReflectorState =
  | { readonly step: 'list'; readonly paged: boolean }
  | { readonly step: 'watch'; readonly resourceVersion: string };

/**
 * Why a list or a watch failed.
 * - `expired`: the resourceVersion or continue token is too old (410)
 * - `gap`: an ERROR event, or a resourceVersion that the server does not understand
 * - `refused`: an answer that repeating does not change by itself (401, 403, 404, 500)
 * - `unavailable`: no answer, a broken or silent connection, or a server that is busy (429, 503, 504)
 */
export type FailureKind = 'expired' | 'gap' | 'refused' | 'unavailable';

export type StepOutcome =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  | { readonly type: 'list-failed'; readonly failure: FailureKind }
  /** `resourceVersion`: the newest that the watch brought, or the one it began at; `livedMs`: how long it lasted. */
  | { readonly type: 'watch-ended'; readonly resourceVersion: string; readonly livedMs: number }
  | {
      readonly type: 'watch-failed';
      readonly failure: FailureKind;
      readonly resourceVersion: string;
      readonly livedMs: number;
    };

export interface WatchStep {
  readonly next: ReflectorState;
  /** Begin again at once, or after the next backoff. */
  readonly wait: 'none' | 'backoff';
  /** Things went well for long enough: the backoff starts anew (before `wait` is applied). */
  readonly healthy: boolean;
}

export const INITIAL_STATE: ReflectorState = { step: 'list', paged: true };

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
      return {
        next: outcome.failure === 'expired' ? { step: 'list', paged: false } : state,
        wait: 'backoff',
        healthy: false,
      };
    case 'watch-ended':
      return {
        next: watchFrom(outcome.resourceVersion),
        wait: outcome.livedMs < SHORT_WATCH_MS ? 'backoff' : 'none',
        healthy: outcome.livedMs >= HEALTHY_AFTER_MS,
      };
    case 'watch-failed':
      return afterFailedWatch(outcome.failure, outcome.resourceVersion, outcome.livedMs >= HEALTHY_AFTER_MS);
  }
}

/** What kind of failure an error of the API client is. */
export function classifyFailure(error: unknown): FailureKind {
  if (isExpired(error)) return 'expired';
  if (error instanceof WatchErrorEvent) return 'gap';
  if (!(error instanceof ApiStatusError)) return 'unavailable';
  if (error.code === 400) return 'gap';
  return [429, 502, 503, 504].includes(error.code) ? 'unavailable' : 'refused';
}

function afterFailedWatch(failure: FailureKind, resourceVersion: string, healthy: boolean): WatchStep {
  switch (failure) {
    case 'expired':
    case 'gap':
      return { next: INITIAL_STATE, wait: healthy ? 'none' : 'backoff', healthy };
    case 'refused':
      // As client-go does: the list says more clearly what is wrong, or that all is well again.
      return { next: INITIAL_STATE, wait: 'backoff', healthy };
    case 'unavailable':
      return { next: watchFrom(resourceVersion), wait: 'backoff', healthy };
  }
}

function watchFrom(resourceVersion: string): ReflectorState {
  return { step: 'watch', resourceVersion };
}
