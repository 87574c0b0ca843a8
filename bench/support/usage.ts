import type { RedisProcess } from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';
import type { ChaosReplica } from '../../test/chaos/set/replica.js';
import { cpuSeconds } from './process-figures.js';
import type { Usage } from './rollout-world.js';

/** The figures that replicas and their Redis report of themselves. */
export type ReplicaUsage = Pick<Usage, 'replicas' | 'redis' | 'commands' | 'syncs'>;

export async function usageOf(of: {
  readonly replicas: readonly ChaosReplica[];
  readonly redis: Pick<RedisProcess, 'pid' | 'url'>;
}): Promise<ReplicaUsage> {
  const processes = of.replicas.map((replica) => replica.process);
  const syncs = await Promise.all(processes.map(({ adminUrl }) => syncsOf(adminUrl)));
  return {
    commands: await commandsOf(of.redis.url),
    syncs: sum(syncs),
    replicas: sum(processes.map(({ pid }) => cpuSeconds(pid))),
    redis: cpuSeconds(of.redis.pid() ?? 0),
  };
}

async function syncsOf(adminUrl: string): Promise<number> {
  return syncsIn(await (await fetch(`${adminUrl}/metrics`)).text());
}

/** Syncs of all controllers, as a page of metrics counts them. */
export function syncsIn(metrics: string): number {
  const counts = metrics.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)/gm);
  return sum([...counts].map(([, count]) => Number(count)));
}

async function commandsOf(url: string): Promise<number> {
  const redis = createRedisConnection({ url, connectionName: 'bench', mode: 'blocking' });
  try {
    const stats = await redis.info('commandstats');
    return sum([...stats.matchAll(/calls=(\d+)/g)].map(([, calls]) => Number(calls)));
  } finally {
    redis.disconnect();
  }
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}
