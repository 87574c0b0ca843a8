import type { ClusterNode, ClusterOptions, Command, RedisOptions } from 'ioredis';
import { Cluster } from 'ioredis';

/** Replies are of the one shape that our readers expect. */
export type NodeOptions = RedisOptions & { replyMapping?: 'legacy' };
export type RedisClusterOptions = ClusterOptions & {
  redisOptions?: ClusterOptions['redisOptions'] & { replyMapping?: 'legacy' };
};

/** A Cluster client whose commands reject when they were not answered in time, also while the slots are unknown. */
export class BoundedRedisCluster extends Cluster {
  constructor(
    startupNodes: ClusterNode[],
    options: RedisClusterOptions,
    /** Absent: commands wait as long as it takes. */
    private readonly commandTimeoutMs: number | undefined,
  ) {
    super(startupNodes, options);
  }

  override sendCommand(...args: Parameters<Cluster['sendCommand']>): unknown {
    const command: Command = args[0];
    if (this.commandTimeoutMs !== undefined) command.setTimeout(this.commandTimeoutMs);
    return super.sendCommand(...args);
  }
}
