import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { ADMIN } from '../access/auth/index.js';
import { flowOf } from './flow-of.js';
import { RequestGate } from './request-gate.js';
import { compileServerLimits } from './server-limits.js';

const signal = new AbortController().signal;
const account = (namespace: string, name: string) => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: [],
});

describe('the gate of an API server', () => {
  const gateOf = () =>
    new RequestGate(compileServerLimits({ maxWritesInFlight: 8, maxWatches: 8 }), new FakeClock());

  it.each(['mutating', 'watch'] as const)(
    'leaves places for others while all service accounts of a namespace hang (%s)',
    (sort) => {
      const gate = gateOf();
      const enter = (user: ReturnType<typeof account>): unknown => {
        try {
          return gate.enter(sort, { signal, user });
        } catch {
          return undefined;
        }
      };
      const served = Array.from({ length: 20 }, (_, n) => enter(account('mallory', `bot-${n}`)));
      expect(served.filter((place) => typeof place === 'function')).toHaveLength(6);
      expect(enter(account('alice', 'ci'))).toBeInstanceOf(Function);
    },
  );

  it('lets administrators in while other users take all their places', () => {
    const gate = gateOf();
    for (let n = 0; n < 20; n++)
      void gate.enter('mutating', { signal, user: { username: `user-${n}`, groups: [] } });
    expect(gate.enter('mutating', { signal, user: { username: 'ann', groups: [] } })).toBeInstanceOf(Promise);
    expect(gate.enter('mutating', { signal, user: ADMIN })).toBeInstanceOf(Function);
  });

  it('counts users apart, and service accounts by their namespace', () => {
    expect(flowOf(account('a', 'x'))).toBe(flowOf(account('a', 'y')));
    expect(flowOf(account('a', 'x'))).not.toBe(flowOf(account('b', 'x')));
    expect(flowOf({ username: 'ann' })).toBe('ann');
  });
});
