import { describe, expect, it } from 'vitest';
import {
  ApiConnectionError,
  ApiProtocolError,
  ApiStatusError,
  WatchErrorEvent,
} from '../api-client/index.js';
import type { FailureKind, ListWay, ReflectorState, StepOutcome, WatchStep } from './decide-watch-step.js';
import { INITIAL_STATE, classifyFailure, decideDoubt, decideWatchStep } from './decide-watch-step.js';

const list = (way: ListWay): ReflectorState => ({ step: 'list', way });
const LIST_STREAMED = list('streamed');
const LIST_PAGED = list('pages');
const LIST_WHOLE = list('whole');
const listFailed = (way: ListWay, failure: FailureKind): StepOutcome => ({
  type: 'list-failed',
  way,
  failure,
});
const checkOf = (resourceVersion: string): ReflectorState => ({ step: 'check', resourceVersion });
const watchFrom = (resourceVersion: string): ReflectorState => ({ step: 'watch', resourceVersion });
const failed = (failure: FailureKind, livedMs: number): StepOutcome => ({
  type: 'watch-failed',
  failure,
  resourceVersion: '7',
  livedMs,
});
const ended = (livedMs: number, early = false): StepOutcome => ({
  type: 'watch-ended',
  early,
  resourceVersion: '7',
  livedMs,
});

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
      outcome: listFailed('pages', 'expired'),
      next: LIST_WHOLE,
      ...PAUSE,
    },
    {
      name: 'a list in one piece stays one while the server is away',
      state: LIST_WHOLE,
      outcome: listFailed('whole', 'unavailable'),
      next: LIST_WHOLE,
      ...PAUSE,
    },
    {
      name: 'a refused list is tried again after a pause',
      state: LIST_PAGED,
      outcome: listFailed('pages', 'refused'),
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
      next: LIST_STREAMED,
      wait: 'none',
      healthy: true,
    },
    {
      name: 'a watch that expired at once waits before listing, so that the two never take turns in a hot loop',
      state: watchFrom('5'),
      outcome: failed('expired', 3),
      next: LIST_STREAMED,
      ...PAUSE,
    },
    {
      name: 'an ERROR event means listing again',
      state: watchFrom('5'),
      outcome: failed('gap', 2_000),
      next: LIST_STREAMED,
      ...PAUSE,
    },
    {
      name: 'a broken watch is taken up where it was, after a pause and a check that the server still knows the place',
      state: watchFrom('5'),
      outcome: failed('unavailable', 2_000),
      next: checkOf('7'),
      ...PAUSE,
    },
    {
      name: 'a watch that broke after a healthy time starts the backoff anew',
      state: watchFrom('5'),
      outcome: failed('unavailable', 5_000),
      next: checkOf('7'),
      wait: 'backoff',
      healthy: true,
    },
    {
      name: 'a refused watch goes back to the list',
      state: watchFrom('5'),
      outcome: failed('refused', 3),
      next: LIST_STREAMED,
      ...PAUSE,
    },
    {
      name: 'a watch that the server ended before its time is checked first: it may come back as another',
      state: watchFrom('5'),
      outcome: ended(6_000, true),
      next: checkOf('7'),
      wait: 'none',
      healthy: true,
    },
    {
      name: 'a server that is further on has everything that we have seen: the watch goes on',
      state: checkOf('7'),
      outcome: { type: 'checked', present: '10' },
      next: watchFrom('7'),
      ...AT_ONCE,
    },
    {
      name: 'a server that has gone back is listed again: it would say nothing until it gets there once more',
      state: checkOf('7'),
      outcome: { type: 'checked', present: '6' },
      next: LIST_STREAMED,
      ...AT_ONCE,
    },
    {
      name: 'where versions have no order, the server has to know what it does not know',
      state: checkOf('a7'),
      outcome: { type: 'checked', present: 'a6' },
      next: watchFrom('a7'),
      ...AT_ONCE,
    },
    {
      name: 'a check that nobody answers is made again',
      state: checkOf('7'),
      outcome: { type: 'check-failed', failure: 'unavailable' },
      next: checkOf('7'),
      ...PAUSE,
    },
    {
      name: 'a check that is refused goes back to the list',
      state: checkOf('7'),
      outcome: { type: 'check-failed', failure: 'refused' },
      next: LIST_STREAMED,
      ...PAUSE,
    },
    {
      name: 'a watch that was doubted begins anew where it was',
      state: watchFrom('5'),
      outcome: { type: 'watch-doubted', so: 'watch', resourceVersion: '7', livedMs: 9_000 },
      next: watchFrom('7'),
      ...AT_ONCE,
    },
    {
      name: 'a cache that was doubted is filled anew',
      state: watchFrom('5'),
      outcome: { type: 'watch-doubted', so: 'list', resourceVersion: '7', livedMs: 9_000 },
      next: LIST_STREAMED,
      ...AT_ONCE,
    },
    {
      name: 'a list that is not streamed is paged, at once',
      state: LIST_STREAMED,
      outcome: listFailed('streamed', 'not-streamed'),
      next: LIST_PAGED,
      ...AT_ONCE,
    },
    {
      name: 'a streamed list that broke is streamed again',
      state: LIST_STREAMED,
      outcome: listFailed('streamed', 'unavailable'),
      next: LIST_STREAMED,
      ...PAUSE,
    },
    {
      name: 'a streamed list that makes no sense is paged',
      state: LIST_STREAMED,
      outcome: listFailed('streamed', 'gap'),
      next: LIST_PAGED,
      ...PAUSE,
    },
    {
      name: 'pages that took the place of a stream expire like others',
      state: LIST_STREAMED,
      outcome: listFailed('pages', 'expired'),
      next: LIST_WHOLE,
      ...PAUSE,
    },
    {
      name: 'pages too large to be held in memory become small ones',
      state: LIST_PAGED,
      outcome: listFailed('pages', 'too-large'),
      next: list('small-pages'),
      ...PAUSE,
    },
    {
      name: 'small pages that expire stay small',
      state: list('small-pages'),
      outcome: listFailed('small-pages', 'expired'),
      next: list('small-pages'),
      ...PAUSE,
    },
  ])('$name', ({ state, outcome, next, wait, healthy }) => {
    expect(decideWatchStep(state, outcome)).toEqual({ next, wait, healthy });
  });

  it('begins with a list, streamed where the server can', () => {
    expect(INITIAL_STATE).toEqual(LIST_STREAMED);
  });
});

describe('decideDoubt', () => {
  it.each([
    ['a server behind the cache was restored from a backup', { shown: '9', present: '7' }, 'list'],
    ['versions without an order tell nothing', { shown: 'a', present: 'b' }, 'list'],
    [
      'a watch on which nothing arrives although there is news is dead',
      { shown: '7', present: '9' },
      'watch',
    ],
    ['a cache that shows all there is has nothing to catch up with', { shown: '9', present: '9' }, 'wait'],
    ['so has one of a server without order', { shown: 'a', present: 'a' }, 'wait'],
  ] as const)('%s', (_name, versions, so) => {
    expect(decideDoubt({ ...versions, isSilent: true })).toBe(so);
  });

  it('lists where a watch that was begun again is silent as well: the newer versions may be of other types', () => {
    const doubt = { shown: '7', present: '9', isSilent: true };
    expect(decideDoubt({ ...doubt, isAgain: true })).toBe('list');
  });

  it('leaves a watch alone on which something arrives: it is slow, not dead', () => {
    expect(decideDoubt({ shown: '7', present: '9', isSilent: false })).toBe('wait');
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
    ['an answer that makes no sense', new ApiProtocolError('a page'), 'gap'],
    ['an answer too large', new ApiProtocolError('endless', { tooLarge: true }), 'too-large'],
    ['anything else', 'what is this', 'unavailable'],
  ])('%s is %s', (_name, error, kind) => {
    expect(classifyFailure(error)).toBe(kind);
  });
});
