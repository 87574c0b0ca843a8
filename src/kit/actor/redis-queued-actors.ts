import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock/index.js';
import type { LuaCall } from '../../base/redis/index.js';
import type { ActorOptions } from './actor.options.js';
import { compileActorOptions } from './actor.options.js';
import type { EarlyAcquisition, ResourceVersions } from './actor.js';
import { RedisActorCalls, parseAcquired } from './redis-actor-calls.js';

export interface RedisQueuedActorsDependencies {
  /** The controller whose queue it is for. */
  controller: string;
  /** As of the RedisActorRuntime. @default 'rollkeeper' */
  keyPrefix?: string;
  clock: Clock;
  options?: ActorOptions;
}

/**
 * What a queue does for a controller's actors in the same step as its own part, where both are kept on one server. Two
 * commands fewer for a run, and nothing can happen between them.
 */
export class RedisQueuedActors {
  private readonly calls: RedisActorCalls;
  private readonly lockDurationMs: number;

  constructor(private readonly dependencies: RedisQueuedActorsDependencies) {
    const { keyPrefix = 'rollkeeper', options } = dependencies;
    const { idleTtlMs, lockDurationMs } = compileActorOptions(options);
    this.calls = new RedisActorCalls(keyPrefix, idleTtlMs);
    this.lockDurationMs = lockDurationMs;
  }

  /** Goes with an add. */
  recordCauses(key: string, causes: ResourceVersions): LuaCall {
    return this.calls.recordCauses({ controller: this.dependencies.controller, key }, causes);
  }

  /** Goes with the start of a run; `read` makes of the reply what `ActorRuntime.activate` takes. */
  acquire(key: string): { call: LuaCall; read: (reply: unknown) => EarlyAcquisition } {
    const { clock, controller } = this.dependencies;
    const owner = randomUUID();
    const sentAtMs = clock.monotonicNow();
    return {
      call: this.calls.acquire({ controller, key }, owner, this.lockDurationMs),
      read: (reply) => ({ owner, sentAtMs, outcome: parseAcquired(reply) }),
    };
  }
}
