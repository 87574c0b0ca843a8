import { newerResourceVersion } from '../kubernetes/index.js';
import type { RedisConnection } from '../redis/index.js';
import { LuaScript } from '../redis/index.js';
import type { AcquireOutcome, ActorId, ActorStore, FinalState, LockProof } from './actor-store.js';
import type { ActorState, ResourceVersions } from './actor.js';

const script = (name: string): LuaScript => new LuaScript(new URL(`./lua/${name}.lua`, import.meta.url));

const STATE_VERSION: ActorState['version'] = 1;

/** Actors in Redis: one hash each, under a hash tag of its own, and one script per operation. */
export class RedisActorStore implements ActorStore {
  private readonly scripts = {
    acquire: script('acquire-1'),
    renew: script('renew-1'),
    release: script('release-1'),
    storeIntents: script('store-intents-1'),
    recordCause: script('record-cause-1'),
    forget: script('forget-1'),
  };

  constructor(
    private readonly redis: RedisConnection,
    private readonly keyPrefix: string,
    private readonly idleTtlMs: number,
  ) {}

  async acquire(id: ActorId, owner: string, lockDurationMs: number): Promise<AcquireOutcome> {
    const answer = (await this.run('acquire', id, [owner, lockDurationMs, this.idleTtlMs, STATE_VERSION])) as
      ['acquired', string, string[]] | ['held', number] | ['unknown-version', number];
    if (answer[0] === 'held') return { kind: 'held', retryAfterMs: answer[1] };
    if (answer[0] === 'unknown-version') return { kind: 'unknown-version', version: answer[1] };
    return { kind: 'acquired', token: Number(answer[1]), ...parseState(answer[2]) };
  }

  async renew(id: ActorId, proof: LockProof, lockDurationMs: number): Promise<boolean> {
    return (await this.run('renew', id, [...proofArgs(proof), lockDurationMs, this.idleTtlMs])) === 1;
  }

  async release(id: ActorId, proof: LockProof, state: FinalState): Promise<boolean> {
    const clear = state.clearIntents ? 1 : 0;
    const args = [...proofArgs(proof), this.idleTtlMs, STATE_VERSION, clear, ...pairs(state.ownWrites)];
    return (await this.run('release', id, args)) === 1;
  }

  async storeIntents(
    id: ActorId,
    proof: LockProof,
    intents: unknown,
    ownWrites: ResourceVersions,
  ): Promise<boolean> {
    const json = intents === undefined ? '' : JSON.stringify(intents);
    const args = [...proofArgs(proof), this.idleTtlMs, STATE_VERSION, json, ...pairs(ownWrites)];
    return (await this.run('storeIntents', id, args)) === 1;
  }

  async recordCauses(id: ActorId, causes: ResourceVersions): Promise<void> {
    await this.run('recordCause', id, [this.idleTtlMs, ...pairs(causes)]);
  }

  async forget(id: ActorId): Promise<void> {
    await this.run('forget', id, []);
  }

  private run(
    name: keyof RedisActorStore['scripts'],
    id: ActorId,
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const key = `{${this.keyPrefix}:actor:${id.controller}:${id.key}}`;
    return this.scripts[name].run(this.redis, [key], args);
  }
}

function proofArgs(proof: LockProof): [string, string] {
  return [String(proof.token), proof.owner];
}

function pairs(versions: ResourceVersions): string[] {
  return Object.entries(versions).flat();
}

function parseState(fields: readonly string[]): { mustHaveSeen: ResourceVersions; intents: unknown } {
  const mustHaveSeen: Record<string, string> = {};
  let intents: unknown;
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const field = fields[index] as string;
    const value = fields[index + 1] as string;
    const resource = /^(?:own|cause):(.*)$/.exec(field)?.[1];
    if (resource !== undefined) mustHaveSeen[resource] = newerResourceVersion(mustHaveSeen[resource], value);
    else if (field === 'intents') intents = JSON.parse(value);
  }
  return { mustHaveSeen, intents };
}
