import type { Runnable } from '@rollkeeper/runtime/manager';
import type { Peer, PeerRegistry, SingleUses } from '../server/index.js';
import type { RedisPeerRegistryOptions } from './redis-peer-registry.js';
import { RedisPeerRegistry } from './redis-peer-registry.js';

/** The registry in which this replica is announced, and the others are found. */
export interface ReplicaRegistry extends PeerRegistry, Runnable {
  /** Absent: there is no shared store. */
  readonly singleUses?: SingleUses;
  announceAs(self: Peer): void;
  close(): void;
}

interface ReplicaRegistryOptions extends Omit<RedisPeerRegistryOptions, 'redisUrl'> {
  /** Without a Redis, a replica only knows of itself. */
  readonly redisUrl: string | undefined;
}

export function replicaRegistry({ redisUrl, ...options }: ReplicaRegistryOptions): ReplicaRegistry {
  if (redisUrl !== undefined) return new RedisPeerRegistry({ ...options, redisUrl });
  let self: Peer | undefined;
  return {
    announceAs: (peer) => (self = peer),
    peers: () => Promise.resolve(self ? [self] : []),
    run: () => Promise.resolve(),
    close: () => undefined,
  };
}
