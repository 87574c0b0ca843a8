import { describe, expect, it } from 'vitest';
import { ApiConnectionError, ApiStatusError, WatchErrorEvent } from '../api-client/index.js';
import type { FailureKind, ReflectorState, StepOutcome, WatchStep } from './decide-watch-step.js';
import { INITIAL_STATE, classifyFailure, decideWatchStep } from './decide-watch-step.js';

const LIST_PAGED: ReflectorState = { step: 'list', paged: true };
const LIST_WHOLE: ReflectorState = { step: 'list', paged: false };
const watchFrom = (resourceVersion: string): ReflectorState => ({ step: 'watch', resourceVersion });
const failed = (failure: FailureKind, livedMs: number): StepOutcome => ({
  type: 'watch-failed',
  failure,
  resourceVersion: '7',
  livedMs,
});
const ended = (livedMs: number): StepOutcome => ({ type: 'watch-ended', resourceVersion: '7', livedMs });

interface Case extends WatchStep {
  name: string;
  state: ReflectorState;
  outcome: StepOutcome;
}

const AT_ONCE = { wait: 'none', healthy: false } as const;
const PAUSE = { wait: 'backoff', healthy: false } as const;

describe('decideWatchStep', () => {
  it.each<Case>([
    {
      name: 'a list is followed by a watch from its resourceVersion',
      state: LIST_PAGED,
      outcome: { type: 'listed', resourceVersion: '5' },
      next: watchFrom('5'),
      ...AT_ONCE,
    },
    {
      name: 'a list whose pages expired is repeated in one piece',
      state: LIST_PAGED,
      outcome: { type: 'list-failed', failure: 'expired' },
      next: LIST_WHOLE,
      ...PAUSE,
    },
    {
      name: 'a list in one piece stays one while the server is away',
      state: LIST_WHOLE,
      outcome: { type: 'list-failed', failure: 'unavailable' },
      next: LIST_WHOLE,
      ...PAUSE,
    },
    {
      name: 'a refused list is tried again after a pause',
      state: LIST_PAGED,
      outcome: { type: 'list-failed', failure: 'refused' },
      next: LIST_PAGED,
      ...PAUSE,
    },
    {
      name: 'a watch that the server ended is resumed at once',
      state: watchFrom('5'),
      outcome: ended(60_000),
      next: watchFrom('7'),
      wait: 'none',
      healthy: true,
    },
    {
      name: 'a watch that ended quickly is resumed after a pause',
      state: watchFrom('5'),
      outcome: ended(20),
      next: watchFrom('7'),
      ...PAUSE,
    },
    {
      name: 'a watch that expired is replaced by a list',
      state: watchFrom('5'),
      outcome: failed('expired', 60_000),
      next: LIST_PAGED,
      wait: 'none',
      healthy: true,
    },
    {
      name: 'a watch that expired at once waits before listing, so that the two never take turns in a hot loop',
      state: watchFrom('5'),
      outcome: failed('expired', 3),
      next: LIST_PAGED,
      ...PAUSE,
    },
    {
      name: 'an ERROR event means listing again',
      state: watchFrom('5'),
      outcome: failed('gap', 2_000),
      next: LIST_PAGED,
      ...PAUSE,
    },
    {
      name: 'a broken watch is resumed where it was, after a pause',
      state: watchFrom('5'),
      outcome: failed('unavailable', 2_000),
      next: watchFrom('7'),
      ...PAUSE,
    },
    {
      name: 'a watch that broke after a healthy time starts the backoff anew',
      state: watchFrom('5'),
      outcome: failed('unavailable', 5_000),
      next: watchFrom('7'),
      wait: 'backoff',
      healthy: true,
    },
    {
      name: 'a refused watch goes back to the list',
      state: watchFrom('5'),
      outcome: failed('refused', 3),
      next: LIST_PAGED,
      ...PAUSE,
    },
  ])('$name', ({ state, outcome, next, wait, healthy }) => {
    expect(decideWatchStep(state, outcome)).toEqual({ next, wait, healthy });
  });

  it('begins with a paged list', () => {
    expect(INITIAL_STATE).toEqual(LIST_PAGED);
  });
});

describe('classifyFailure', () => {
  const status = (code: number) => new ApiStatusError({ code });
  it.each<[string, unknown, FailureKind]>([
    ['410 of a list or watch', status(410), 'expired'],
    ['410 in an ERROR event', new WatchErrorEvent({ code: 410 }), 'expired'],
    ['any other ERROR event', new WatchErrorEvent({ code: 500 }), 'gap'],
    ['400: the resourceVersion means nothing to the server', status(400), 'gap'],
    ['401', status(401), 'refused'],
    ['403', status(403), 'refused'],
    ['404', status(404), 'refused'],
    ['500', status(500), 'refused'],
    ['429', status(429), 'unavailable'],
    ['503', status(503), 'unavailable'],
    ['a broken connection', new ApiConnectionError('reset'), 'unavailable'],
    ['anything else', 'what is this', 'unavailable'],
  ])('%s is %s', (_name, error, kind) => {
    expect(classifyFailure(error)).toBe(kind);
  });
});
