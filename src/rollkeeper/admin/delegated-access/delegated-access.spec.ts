import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { ResourceType } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { DelegatedAccess } from './delegated-access.js';

const TTL_MS = 10_000;
const REVIEW_TIMEOUT_MS = 5000;
const CACHE_SIZE = 1000;

interface Asked {
  readonly kind: string;
  readonly spec: Record<string, unknown>;
  readonly signal: AbortSignal | undefined;
}

/** A cluster that knows `tokens`, and allows everything for users named `admin…`. */
class ReviewingApi {
  readonly asked: Asked[] = [];
  tokens: Record<string, object> = { 'alices-token': { username: 'admin-alice', groups: ['staff'] } };
  /** Overrides the cluster's answer. */
  answerTo: (asked: Asked) => unknown = (asked) => this.usualAnswer(asked);

  readonly client = {
    create: async (type: ResourceType, object: unknown, options?: { signal?: AbortSignal }) => {
      const { spec } = object as { spec: Record<string, unknown> };
      const asked = { kind: type.kind, spec, signal: options?.signal };
      this.asked.push(asked);
      return this.answerTo(asked);
    },
  } as unknown as Pick<ApiClient, 'create'>;

  usualAnswer({ kind, spec }: Asked): object {
    if (kind === 'SubjectAccessReview')
      return { kind, spec, status: { allowed: String(spec['user']).startsWith('admin') } };
    const user = this.tokens[String(spec['token'])];
    return { kind, spec, status: user ? { authenticated: true, user } : { user: {} } };
  }

  count(kind: string): number {
    return this.asked.filter((each) => each.kind === kind).length;
  }
}

describe('access that the cluster decides on', () => {
  let clock: FakeClock;
  let api: ReviewingApi;
  let access: DelegatedAccess;
  const status = { token: 'alices-token', verb: 'get', path: '/admin/status' };

  beforeEach(() => {
    clock = new FakeClock();
    api = new ReviewingApi();
    access = new DelegatedAccess({ client: api.client, clock, logger: silentLogger });
  });

  it('asks whose token it is, and then whether that user may', async () => {
    api.tokens['bobs-token'] = {
      username: 'bob',
      uid: 'u1',
      groups: ['system:authenticated'],
      extra: { scopes: ['a'] },
    };
    expect(await access.judge(status)).toEqual({ verdict: 'allowed', user: 'admin-alice' });
    expect(await access.judge({ ...status, token: 'bobs-token' })).toEqual({
      verdict: 'forbidden',
      user: 'bob',
    });
    expect(api.asked.map(({ kind, spec }) => ({ kind, spec })).slice(2)).toEqual([
      { kind: 'TokenReview', spec: { token: 'bobs-token' } },
      {
        kind: 'SubjectAccessReview',
        spec: {
          user: 'bob',
          uid: 'u1',
          groups: ['system:authenticated'],
          extra: { scopes: ['a'] },
          nonResourceAttributes: { path: '/admin/status', verb: 'get' },
        },
      },
    ]);
  });

  it('asks nothing about the rights of a token that the cluster does not know', async () => {
    expect(await access.judge({ ...status, token: 'guess' })).toEqual({ verdict: 'unauthenticated' });
    expect(api.count('SubjectAccessReview')).toBe(0);
  });

  it('remembers an answer for ten seconds, yes and no alike, and not a moment longer', async () => {
    const guess = { ...status, token: 'guess' };
    await access.judge(status);
    await access.judge(guess);
    api.tokens = { guess: { username: 'admin-eve' } };
    await clock.advance(TTL_MS - 1);
    expect((await access.judge(status)).verdict).toBe('allowed');
    expect((await access.judge(guess)).verdict).toBe('unauthenticated');
    expect(api.asked).toHaveLength(3);
    await clock.advance(1);
    expect((await access.judge(status)).verdict).toBe('unauthenticated');
    expect((await access.judge(guess)).verdict).toBe('allowed');
  });

  it('counts the ten seconds from the question, however long the answer takes', async () => {
    api.answerTo = async (asked) => {
      if (asked.kind === 'TokenReview') await clock.sleep(4000);
      return api.usualAnswer(asked);
    };
    const first = access.judge(status);
    await clock.advance(4000);
    expect((await first).verdict).toBe('allowed');
    api.tokens = {};
    await clock.advance(TTL_MS - 4000);
    const second = access.judge(status);
    await clock.advance(4000);
    expect((await second).verdict).toBe('unauthenticated');
  });

  it('mixes up neither users nor paths nor verbs', async () => {
    api.answerTo = (asked) => {
      const { path, verb } = (asked.spec['nonResourceAttributes'] ?? {}) as { path: string; verb: string };
      if (asked.kind === 'TokenReview') return api.usualAnswer(asked);
      return { kind: asked.kind, status: { allowed: path === '/admin/status' && verb === 'get' } };
    };
    expect((await access.judge(status)).verdict).toBe('allowed');
    expect((await access.judge({ ...status, verb: 'post' })).verdict).toBe('forbidden');
    expect((await access.judge({ ...status, path: '/admin/config' })).verdict).toBe('forbidden');
    expect((await access.judge({ ...status, token: 'alices-tokeN' })).verdict).toBe('unauthenticated');
    expect((await access.judge(status)).verdict).toBe('allowed');
    expect(api.count('TokenReview')).toBe(2);
  });

  it('does not take two users of one name for one', async () => {
    api.tokens = {
      one: { username: 'alice', groups: ['admins'] },
      other: { username: 'alice', groups: [] },
    };
    api.answerTo = (asked) =>
      asked.kind === 'TokenReview'
        ? api.usualAnswer(asked)
        : { kind: asked.kind, status: { allowed: (asked.spec['groups'] as string[]).includes('admins') } };
    expect((await access.judge({ ...status, token: 'one' })).verdict).toBe('allowed');
    expect((await access.judge({ ...status, token: 'other' })).verdict).toBe('forbidden');
  });

  it('asks once for many who come with the same token at the same time', async () => {
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => access.judge(status)));
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['allowed']));
    expect(api.asked).toHaveLength(2);
  });

  it('forgets the oldest token of more than a thousand', async () => {
    await access.judge(status);
    for (let i = 0; i < CACHE_SIZE - 1; i++) await access.judge({ ...status, token: `guess-${i}` });
    await access.judge(status);
    expect(api.count('TokenReview')).toBe(CACHE_SIZE);
    await access.judge({ ...status, token: 'one more' });
    await access.judge(status);
    expect(api.count('TokenReview')).toBe(CACHE_SIZE + 2);
  });

  it('has no more than twenty questions open, and refuses the rest', async () => {
    let open = 0;
    let most = 0;
    api.answerTo = async (asked) => {
      most = Math.max(most, ++open);
      await clock.sleep(100);
      open--;
      return api.usualAnswer(asked);
    };
    const judged = Array.from({ length: 30 }, (_, i) => access.judge({ ...status, token: `guess-${i}` }));
    await clock.advance(100);
    const verdicts = (await Promise.all(judged)).map(({ verdict }) => verdict);
    expect(most).toBe(20);
    expect(verdicts.filter((verdict) => verdict === 'unanswered')).toHaveLength(10);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives a question up that is not answered, and asks again next time', async () => {
    api.answerTo = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const hanging = access.judge(status);
    await clock.advance(REVIEW_TIMEOUT_MS);
    expect(await hanging).toEqual({ verdict: 'unanswered' });
    api.answerTo = (asked) => api.usualAnswer(asked);
    expect((await access.judge(status)).verdict).toBe('allowed');
    expect(clock.pendingTimers).toBe(0);
  });

  const review = (status: unknown) => ({ kind: 'TokenReview', status });
  const user = { username: 'admin-eve' };

  it.each<[what: string, answer: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'authenticated'],
    ['the question alone', { kind: 'TokenReview', spec: { token: 'x' } }],
    [
      'the answer to another question',
      { kind: 'SubjectAccessReview', status: { authenticated: true, user } },
    ],
    ['a yes that is a text', review({ authenticated: 'true', user })],
    ['a yes that is a number', review({ authenticated: 1, user })],
    ['a yes about nobody', review({ authenticated: true })],
    ['a yes about somebody without a name', review({ authenticated: true, user: { username: '' } })],
    ['a name that is no text', review({ authenticated: true, user: { username: ['admin'] } })],
    ['groups that are no texts', review({ authenticated: true, user: { ...user, groups: [1] } })],
    ['a yes beside an error', review({ authenticated: true, user, error: 'the token has expired' })],
  ])('lets nobody in when a TokenReview is answered with %s', async (_what, answer) => {
    api.answerTo = (asked) => (asked.kind === 'TokenReview' ? answer : api.usualAnswer(asked));
    expect(await access.judge(status)).toEqual({ verdict: 'unanswered' });
  });

  it.each<[what: string, verdict: string, status: unknown]>([
    ['no status', 'unanswered', undefined],
    ['no word about it', 'unanswered', {}],
    ['a yes that is a text', 'unanswered', { allowed: 'true' }],
    ['a yes that is a number', 'unanswered', { allowed: 1 }],
    ['a yes and a no', 'unanswered', { allowed: true, denied: true }],
    ['neither yes nor no', 'forbidden', { allowed: false }],
    ['a no', 'forbidden', { allowed: false, denied: true }],
    ['a no and an error', 'forbidden', { allowed: false, evaluationError: 'no authorizer answered' }],
  ])('lets nobody in when a SubjectAccessReview is answered with %s', async (_what, verdict, answered) => {
    api.answerTo = (asked) =>
      asked.kind === 'TokenReview' ? api.usualAnswer(asked) : { kind: asked.kind, status: answered };
    expect((await access.judge(status)).verdict).toBe(verdict);
  });

  it('remembers no failure', async () => {
    api.answerTo = () => Promise.reject(new Error('connection refused'));
    expect((await access.judge(status)).verdict).toBe('unanswered');
    api.answerTo = (asked) => {
      if (asked.kind === 'TokenReview') return api.usualAnswer(asked);
      throw new Error('connection refused');
    };
    expect((await access.judge(status)).verdict).toBe('unanswered');
    api.answerTo = (asked) => api.usualAnswer(asked);
    expect((await access.judge(status)).verdict).toBe('allowed');
  });

  it('keeps no token, and writes none into the log', async () => {
    const lines: unknown[] = [];
    const note = (...line: unknown[]): void => void lines.push(line);
    const logger = { ...silentLogger, debug: note, info: note, warn: note, error: note, child: () => logger };
    access = new DelegatedAccess({ client: api.client, clock, logger });
    api.answerTo = () => Promise.reject(new Error('connection refused'));
    await access.judge(status);
    api.answerTo = (asked) => api.usualAnswer(asked);
    await access.judge(status);
    expect(lines).toHaveLength(1);
    const { users, rights } = access as unknown as Record<
      'users' | 'rights',
      { entries: Map<string, unknown> }
    >;
    const kept = JSON.stringify([lines, [...users.entries], [...rights.entries]]);
    expect(users.entries.size).toBe(1);
    expect(kept).not.toContain(status.token);
  });
});
