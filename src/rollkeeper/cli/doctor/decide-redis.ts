import type { RedisFacts } from '@rollkeeper/redis/connection';
import type { Asked, Finding } from './finding.js';
import { failure, ok, skipped, warning } from './finding.js';

/** One Redis server, as it describes itself and as it answers. */
export interface RedisServerFacts extends RedisFacts {
  /** Without login. */
  readonly address: string;
  /** Why it cannot be used, to be read after its address. */
  readonly unfit?: string;
  readonly appendOnly: boolean;
  /** Whether it saves snapshots by itself. */
  readonly savesSnapshots: boolean;
  readonly isLoading: boolean;
  /** Whether the last snapshot or rewrite failed. */
  readonly lastSaveFailed: boolean;
  readonly usedBytes: number;
  /** 0: without a limit. */
  readonly limitBytes: number;
  /** The median of some pings. */
  readonly pingMs: number;
  /** How far its clock is ahead of this machine's. */
  readonly aheadMs: number;
}

/** How the replicas see the store that they share. */
interface StoreFacts {
  readonly answers: boolean;
  readonly silentSinceMs?: number;
}

interface RedisQuestion {
  readonly servers: Asked<readonly RedisServerFacts[]>;
  /** Undefined where no replica answers. */
  readonly store?: StoreFacts;
  /** Whether the objects themselves are in it: those of the embedded API server. */
  readonly keepsObjects: boolean;
}

/** A key is taken by several round trips, and the lease is renewed every 400 ms. */
const SLOW_MS = 10;
const TOO_SLOW_MS = 100;
const SKEW_MS = 2000;
const NEARLY_FULL = 0.9;

export function decideRedis({ keepsObjects, servers, store }: RedisQuestion): readonly Finding[] {
  return [
    ...(store && !store.answers ? [silentStore(store)] : []),
    ...decideServers(servers, keepsObjects, store),
  ];
}

function silentStore({ silentSinceMs }: StoreFacts): Finding {
  const since = silentSinceMs === undefined ? '' : ` since ${new Date(silentSinceMs).toISOString()}`;
  return failure(
    'redis',
    `Redis does not answer the replicas${since}`,
    'check that it runs and can be reached from the pods (a NetworkPolicy, a changed password); nothing is lost, and work continues when it answers',
  );
}

function decideServers(
  servers: Asked<readonly RedisServerFacts[]>,
  keepsObjects: boolean,
  store: StoreFacts | undefined,
): readonly Finding[] {
  if (servers.is === 'not-asked')
    return [
      skipped(
        'redis',
        `${store?.answers ? 'the replicas report that Redis answers; ' : ''}it was not checked directly: ${servers.why}`,
        'give its address with --redis-url or REDIS_URL',
      ),
    ];
  if (servers.is === 'unanswered')
    return [
      failure(
        'redis',
        `Redis does not answer: ${servers.why}`,
        'check host, port, user and password in the URL, and the network from here',
      ),
    ];
  return servers.value.flatMap((server) => decideServer(server, keepsObjects));
}

function decideServer(server: RedisServerFacts, keepsObjects: boolean): readonly Finding[] {
  const { address, aheadMs, evictionPolicy, isLoading, lastSaveFailed, pingMs, unfit, version } = server;
  const say = (level: typeof warning, summary: string, remedy: string): Finding =>
    level('redis', `${address} ${summary}`, remedy);
  const troubles = [
    ...(unfit === undefined ? [] : [say(failure, unfit, remedyOf(server))]),
    ...(isLoading ? [say(warning, 'is loading its data', 'wait: replicas continue when it is done')] : []),
    ...(lastSaveFailed
      ? [say(failure, 'could not write its last snapshot or log', 'see its log; usually the disk is full')]
      : []),
    ...decidePersistence(server, keepsObjects, say),
    ...(pingMs < SLOW_MS
      ? []
      : [
          say(
            pingMs < TOO_SLOW_MS ? warning : failure,
            `answers a ping in ${pingMs.toFixed(1)} ms`,
            'move it closer to the replicas, and look for slow commands and other users (SLOWLOG GET, INFO commandstats)',
          ),
        ]),
    ...(Math.abs(aheadMs) < SKEW_MS
      ? []
      : [
          say(
            warning,
            `has a clock ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s`,
            'synchronise both clocks (NTP)',
          ),
        ]),
    ...decideMemory(server, say),
  ];
  if (troubles.some(({ level }) => level === 'failure')) return troubles;
  const calm = `${address} answers in ${pingMs.toFixed(1)} ms: version ${version}, ${evictionPolicy}, ${persistenceOf(server)}`;
  return [ok('redis', calm), ...troubles];
}

type Say = (level: typeof warning, summary: string, remedy: string) => Finding;

function decidePersistence(server: RedisServerFacts, keepsObjects: boolean, say: Say): readonly Finding[] {
  if (!keepsObjects || server.appendOnly) return [];
  return [
    say(
      server.savesSnapshots ? warning : failure,
      `keeps the objects of the API server, and ${server.savesSnapshots ? 'writes only snapshots' : 'writes nothing to disk'}`,
      'CONFIG SET appendonly yes, and in its configuration: without it a restart loses the latest writes',
    ),
  ];
}

function decideMemory({ limitBytes, usedBytes }: RedisServerFacts, say: Say): readonly Finding[] {
  if (limitBytes === 0 || usedBytes < limitBytes * NEARLY_FULL) return [];
  return [
    say(
      warning,
      `uses ${Math.round((usedBytes / limitBytes) * 100)} % of its maxmemory`,
      'raise maxmemory: with noeviction a full Redis refuses writes, and no key can be queued',
    ),
  ];
}

function persistenceOf({ appendOnly, savesSnapshots }: RedisServerFacts): string {
  if (appendOnly) return 'append-only file';
  return savesSnapshots ? 'snapshots' : 'nothing on disk';
}

function remedyOf({ evictionPolicy }: RedisServerFacts): string {
  return evictionPolicy === 'noeviction'
    ? 'docs/REDIS.md lists the supported servers and their URLs'
    : 'CONFIG SET maxmemory-policy noeviction, and in its configuration';
}
