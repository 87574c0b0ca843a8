import { describe, expect, it } from 'vitest';
import type { RedisFacts } from './decide-redis-fitness.js';
import { decideRedisFitness, parseRedisFacts } from './decide-redis-fitness.js';

const fit: RedisFacts = {
  version: '7.0.15',
  mode: 'standalone',
  role: 'master',
  evictionPolicy: 'noeviction',
};

describe('a Redis server', () => {
  it('is fit when it is new enough, never evicts and can be written to', () => {
    expect(decideRedisFitness('server', fit)).toBeUndefined();
    expect(decideRedisFitness('sentinel', fit)).toBeUndefined();
    expect(decideRedisFitness('cluster', { ...fit, mode: 'cluster' })).toBeUndefined();
  });

  it.each([
    { name: 'too old', facts: { version: '6.2.7' }, problem: '6.2.7; 7 or newer' },
    { name: 'of no version', facts: { version: '' }, problem: 'version unknown' },
    { name: 'a replica', facts: { role: 'slave' }, problem: 'is a replica' },
    { name: 'evicting', facts: { evictionPolicy: 'allkeys-lru' }, problem: 'maxmemory-policy allkeys-lru' },
    {
      name: 'evicting what expires',
      facts: { evictionPolicy: 'volatile-ttl' },
      problem: 'must be noeviction',
    },
    { name: 'a Sentinel', facts: { mode: 'sentinel' }, problem: 'redis+sentinel://' },
    { name: "a Cluster's node", facts: { mode: 'cluster' }, problem: 'redis+cluster://' },
  ])('is refused when it is $name', ({ facts, problem }) => {
    expect(decideRedisFitness('server', { ...fit, ...facts })).toContain(problem);
  });

  it('is refused as a Cluster when it is none', () => {
    expect(decideRedisFitness('cluster', fit)).toContain('is not a Redis Cluster');
  });

  it('tells all that in INFO, Valkey included', () => {
    const info = [
      '# Server',
      'redis_version:7.2.4',
      'server_name:valkey',
      'valkey_version:8.0.1',
      'server_mode:standalone',
      'maxmemory_policy:noeviction',
      'role:slave',
    ].join('\r\n');
    expect(parseRedisFacts(info)).toEqual({ ...fit, version: '7.2.4', role: 'slave' });
  });
});
