import { describe, expect, it } from 'vitest';
import { decideLock, modeOf } from './decide-coordination.js';

describe('the place of the lease', () => {
  it('follows from the coordination, and is in Redis unless the user says otherwise', () => {
    expect(decideLock({ mode: 'redis' })).toBe('redis');
    expect(decideLock({ mode: 'redis', lock: 'leases' })).toBe('leases');
    expect(decideLock({ mode: undefined, lock: 'none' })).toBe('none');
    expect(decideLock({ mode: 'leases' })).toBe('leases');
    expect(decideLock({ mode: 'leases', lock: 'leases', reconcileOn: 'leader' })).toBe('leases');
    expect(decideLock({ mode: 'local' })).toBe('none');
    expect(decideLock({ mode: 'local', reconcileOn: 'all' })).toBe('none');
  });

  it.each([
    {
      facts: { mode: 'leases', lock: 'redis' },
      says: 'leaderElection.lock: must be leases with coordination',
    },
    {
      facts: { mode: 'leases', lock: 'none' },
      says: 'leaderElection.lock: must be leases with coordination',
    },
    { facts: { mode: 'local', lock: 'leases' }, says: 'leaderElection.lock: must be none with coordination' },
    { facts: { mode: 'leases', reconcileOn: 'all' }, says: 'reconcileOn: must be leader' },
    { facts: { mode: 'leases', redisUrl: 'redis://redis' }, says: 'redisUrl: is not used with' },
    { facts: { mode: 'local', redisUrl: 'redis://redis' }, says: 'redisUrl: is not used with' },
  ] as const)('contradicts $facts', ({ facts, says }) => {
    expect(() => decideLock(facts)).toThrow(says);
  });
});

describe('a coordination', () => {
  it('is named, or given, or is Redis', () => {
    expect(modeOf(undefined)).toBe('redis');
    expect(modeOf('leases')).toBe('leases');
    expect(modeOf(() => undefined)).toBeUndefined();
  });

  it.each(['lease', '', null, 3, {}])('is not %j', (coordination) => {
    expect(() => modeOf(coordination)).toThrow('coordination: must be redis, leases, local');
  });
});
