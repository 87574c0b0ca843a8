import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { CODE_LASTS_MS, SealedBox, SealedSessions, SignInCodes, isSession, signInLink } from './index.js';

const HOUR_MS = 3_600_000;
let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

describe('a code to sign in with', () => {
  it('is good once', () => {
    const codes = new SignInCodes(clock);
    const { code } = codes.issue('token');
    expect(codes.redeem(code)).toBe('token');
    expect(codes.redeem(code)).toBeUndefined();
  });

  it('is good for five minutes, and not a moment longer', async () => {
    const codes = new SignInCodes(clock);
    const [first, second] = [codes.issue('a').code, codes.issue('b').code];
    await clock.advance(CODE_LASTS_MS - 1);
    expect(codes.redeem(first)).toBe('a');
    await clock.advance(1);
    expect(codes.redeem(second)).toBeUndefined();
  });

  it('is none of those that nobody issued', () => {
    const codes = new SignInCodes(clock);
    codes.issue('token');
    for (const guess of ['', 'guess', '__proto__']) expect(codes.redeem(guess)).toBeUndefined();
  });

  it('makes way for newer ones when there are more than a hundred', () => {
    const codes = new SignInCodes(clock);
    const all = Array.from({ length: 101 }, (_, index) => codes.issue(`token-${index}`).code);
    expect(codes.redeem(all[0] ?? '')).toBeUndefined();
    expect(codes.redeem(all[1] ?? '')).toBe('token-1');
  });

  it('is in the part of a link that no server sees', () => {
    const link = new URL(signInLink('http://127.0.0.1:16444', { code: 'secret' }));
    expect(link.hash).toBe('#sign-in=secret');
    expect(link.href.replace(link.hash, '')).toBe('http://127.0.0.1:16444/console');
  });
});

describe('a session', () => {
  it('does not show its token, and opens where the same secret is known', () => {
    const { session } = new SealedSessions(clock, 'shared').seal({ token: 'token' });
    expect(isSession(session)).toBe(true);
    expect(Buffer.from(session.slice(5), 'base64url').toString('latin1')).not.toContain('token');
    expect(new SealedSessions(clock, 'shared').open(session)).toMatchObject({ token: 'token' });
    expect(new SealedSessions(clock, 'other').open(session)).toBeUndefined();
    expect(new SealedSessions(clock, undefined).open(session)).toBeUndefined();
  });

  it('ends after twelve hours', async () => {
    const sessions = new SealedSessions(clock, undefined);
    const { endsMs, session } = sessions.seal({ token: 'token' });
    expect(endsMs - clock.now()).toBe(12 * HOUR_MS);
    await clock.advance(12 * HOUR_MS - 1);
    expect(sessions.open(session)).toMatchObject({ token: 'token' });
    await clock.advance(1);
    expect(sessions.open(session)).toBeUndefined();
  });

  it('ends sooner where what it was made of does', async () => {
    const sessions = new SealedSessions(clock, undefined);
    const { endsMs, session } = sessions.seal(
      { user: { username: 'anna' } },
      { latestMs: clock.now() + HOUR_MS },
    );
    expect(endsMs - clock.now()).toBe(HOUR_MS);
    expect(sessions.open(session)).toMatchObject({ user: { username: 'anna' } });
    await clock.advance(HOUR_MS);
    expect(sessions.open(session)).toBeUndefined();
  });

  it('is opened by nothing that was sealed for another purpose', () => {
    const other = new SealedBox<{ token: string }>(clock, {
      ...{ purpose: 'another purpose', prefix: 'rkc1.', secret: 'shared' },
    });
    const sealed = other.seal({ token: 'token' }, clock.now() + HOUR_MS);
    expect(new SealedSessions(clock, 'shared').open(sealed)).toBeUndefined();
  });

  it('opens no more once a single character of it was changed', () => {
    const sessions = new SealedSessions(clock, 'shared');
    const { session } = sessions.seal({ token: 'token' });
    for (let at = 5; at < session.length; at++) {
      const other = session[at] === 'A' ? 'B' : 'A';
      expect(sessions.open(`${session.slice(0, at)}${other}${session.slice(at + 1)}`)).toBeUndefined();
    }
    for (const none of ['rkc1.', 'rkc1.AAAA', `rkc1.${'A'.repeat(200)}`, `${session}A`, `${session}=`])
      expect(sessions.open(none)).toBeUndefined();
  });
});
