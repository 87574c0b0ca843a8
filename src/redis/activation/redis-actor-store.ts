import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { LuaCall, RedisConnection } from '../connection/index.js';
import type {
  AcquireOutcome,
  ActorId,
  ActorStore,
  FinalState,
  LockProof,
} from '@rollkeeper/runtime/activation/actor-store';
import type { StateTtls } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import type { UnansweredWrite } from '@rollkeeper/runtime/activation/unanswered-write';
import { RedisActorCalls, STATE_VERSION, pairs, parseAcquired, proofArgs } from './redis-actor-calls.js';

/** Actors in Redis: one hash per actor, with its own hash tag, and one script per operation. */
export class RedisActorStore implements ActorStore {
  private readonly calls: RedisActorCalls;

  constructor(
    private readonly redis: RedisConnection,
    keyPrefix: string,
    ttl: StateTtls,
  ) {
    this.calls = new RedisActorCalls(keyPrefix, ttl);
  }

  async acquire(id: ActorId, owner: string, lockDurationMs: number): Promise<AcquireOutcome> {
    return parseAcquired(await this.send(this.calls.acquire(id, owner, lockDurationMs)));
  }

  async renew(id: ActorId, proof: LockProof, lockDurationMs: number): Promise<boolean> {
    return (await this.run('renew', id, [...proofArgs(proof), lockDurationMs, ...this.calls.idleTtls])) === 1;
  }

  async release(id: ActorId, proof: LockProof, state: FinalState): Promise<boolean> {
    return (await this.send(this.calls.release(id, proof, state))) === 1;
  }

  async storeIntents(
    id: ActorId,
    proof: LockProof,
    intents: unknown,
    ownWrites: ResourceVersions,
  ): Promise<boolean> {
    const json = intents === undefined ? '' : stringifyJson(intents);
    const args = [...proofArgs(proof), ...this.calls.idleTtls, STATE_VERSION, json, ...pairs(ownWrites)];
    return (await this.run('storeIntents', id, args)) === 1;
  }

  async recordCauses(
    id: ActorId,
    causes: ResourceVersions,
    unanswered: readonly UnansweredWrite[] = [],
  ): Promise<void> {
    await this.send(this.calls.recordCauses(id, causes, unanswered));
  }

  private run(
    name: Parameters<RedisActorCalls['of']>[0],
    id: ActorId,
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.send(this.calls.of(name, id, args));
  }

  private send<Reply>({ args, keys, script }: LuaCall<Reply>): Promise<Reply> {
    return script.run(this.redis, keys, args);
  }
}
