import type { DelayedKey } from '@rollkeeper/runtime/work-queue/queue-inspection';
import type { StoredQueue } from '../../world-store.js';
import type { Reply } from '../resp/reply.js';
import { DoubleReply, PairsReply } from '../resp/reply.js';
import type { SimulatedRedis } from '../simulated-redis.js';

/** A queue as its keys in a simulated Redis show it. @param base its prefix, for example `{rollkeeper:queue:deployment}` */
export function storedQueueOf(server: SimulatedRedis, base: string): StoredQueue {
  const name = /:queue:([^{}:]+)\}$/.exec(base)?.[1] ?? base;
  const bull = `${base}:${name}:`;
  const state = `${base}:state:`;
  const count = (...request: string[]): number => Number(server.ask(...request));
  return {
    queue: {
      name,
      counts: async () => ({
        waiting: count('LLEN', `${bull}wait`) + count('ZCARD', `${bull}prioritized`),
        active: count('LLEN', `${bull}active`),
        delayed: count('ZCARD', `${state}timers`),
        parked: count('HLEN', `${state}parked`),
      }),
      inspect: async (limit) => {
        const timers = server.ask('ZRANGE', `${state}timers`, '0', String(limit - 1), 'WITHSCORES');
        return { delayed: timers instanceof PairsReply ? timers.pairs.map(delayedKeyOf) : [] };
      },
    },
    hasTerm: count('EXISTS', `${state}term`) === 1,
  };
}

function delayedKeyOf([key, due]: readonly [Reply, Reply]): DelayedKey {
  if (typeof key !== 'string') throw new TypeError('The members of a sorted set are texts.');
  return { key, dueMs: due instanceof DoubleReply ? due.value : Number(due), failures: 0 };
}
