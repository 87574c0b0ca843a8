import type { RedisTarget } from './redis-target.js';

/** The facts from one server's `INFO` that matter here. */
export interface RedisFacts {
  readonly version: string;
  readonly mode: string;
  readonly role: string;
  readonly evictionPolicy: string;
}

const OLDEST_MAJOR = 7;

/** Valkey and others report the Redis version that they are compatible with. */
export function parseRedisFacts(info: string): RedisFacts {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  return {
    version: field('redis_version') ?? '',
    mode: field('redis_mode') ?? field('server_mode') ?? 'standalone',
    role: field('role') ?? 'master',
    evictionPolicy: field('maxmemory_policy') ?? 'noeviction',
  };
}

/** Why this server cannot be used, to be read after its address; `undefined` if it can. */
export function decideRedisFitness(kind: RedisTarget['kind'], facts: RedisFacts): string | undefined {
  if (facts.mode === 'sentinel') return 'is a Sentinel; name it as redis+sentinel://host,host/MASTER';
  if (kind !== 'cluster' && facts.mode === 'cluster')
    return 'is a node of a Redis Cluster; name it as redis+cluster://host,host';
  if (kind === 'cluster' && facts.mode !== 'cluster')
    return 'is not a Redis Cluster; name it as redis://host';
  if (!(Number.parseInt(facts.version, 10) >= OLDEST_MAJOR))
    return `is version ${facts.version || 'unknown'}; ${OLDEST_MAJOR} or newer is needed`;
  if (facts.role !== 'master') return 'is a replica, which cannot be written to; name its master';
  if (facts.evictionPolicy !== 'noeviction')
    return `evicts keys (maxmemory-policy ${facts.evictionPolicy}); it must be noeviction, or work would be lost`;
  return undefined;
}
