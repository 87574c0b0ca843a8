import { Cluster } from 'ioredis';
import type { RedisConnection } from '../../src/redis/connection/index.js';
import type { TermLine } from './checkers/epochs.js';

const NOTES = /^\{.*:queue:([\w-]+)\}:state:term:chaos$/;

/** Reads what Redis has noted of leaders' terms, queue by queue, from the end of the last read on. */
export async function takeTerms(redis: RedisConnection): Promise<TermLine[]> {
  const lines: TermLine[] = [];
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const keys = await Promise.all(servers.map((server) => server.keys('*:state:term:chaos')));
  for (const key of keys.flat()) {
    const [, controller = ''] = NOTES.exec(key) ?? [];
    const length = await redis.llen(key);
    for (const text of (length > 0 && (await redis.lpop(key, length))) || []) {
      const [what, epoch, holder = ''] = text.split(' ');
      lines.push({ controller, what: what as TermLine['what'], epoch: Number(epoch), holder });
    }
  }
  return lines;
}
