import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newerResourceVersion, parseJson } from '@rollkeeper/machinery/kubernetes';
import type { LuaCall } from '../connection/index.js';
import { LuaScript, REFUSED, pairsOf } from '../connection/index.js';
import type {
  AcquireOutcome,
  ActorId,
  FinalState,
  LockProof,
} from '@rollkeeper/runtime/activation/actor-store';
import type { StateTtls } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import { stateTtlMs } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import type { ActorState } from '@rollkeeper/runtime/activation/activation';
import type { UnansweredWrite } from '@rollkeeper/runtime/activation/unanswered-write';
import { encodeUnansweredWrite, parseUnansweredWrite } from '@rollkeeper/runtime/activation/unanswered-write';

/** The reply of the script that acquires a lock: with the token, and the actor's state as fields and values. */
export type AcquiredReply =
  | ['acquired', token: string, state: string[], nowMs: string]
  | ['held', retryAfterMs: number]
  | ['unknown-version', version: number];

const scripts = {
  acquire: new LuaScript<AcquiredReply>(new URL('./lua/acquire-1.lua', import.meta.url)),
  renew: new LuaScript(new URL('./lua/renew-1.lua', import.meta.url)),
  release: new LuaScript(new URL('./lua/release-1.lua', import.meta.url)),
  storeIntents: new LuaScript(new URL('./lua/store-intents-1.lua', import.meta.url)),
  recordCause: new LuaScript(new URL('./lua/record-cause-1.lua', import.meta.url)),
};

const releaseOrFail = new LuaScript({
  name: 'release',
  numberOfKeys: 1,
  source: `
local released = (function(KEYS, ARGV)
${scripts.release.source}
end)(KEYS, ARGV)
if released == 1 then return 1 end
return redis.error_reply('${REFUSED} the lock of the actor was lost')
`,
});

/** Prefix of the fields that hold unanswered writes; see the scripts. */
const UNANSWERED = 'unanswered:';
const UNKNOWN_TIME = '1';

export const STATE_VERSION: ActorState['version'] = 1;

/** The commands on actors in Redis, for the caller to send on its own connection. */
export class RedisActorCalls {
  /** Without intents, and with them; milliseconds. */
  readonly idleTtls: readonly [number, number];

  constructor(
    private readonly keyPrefix: string,
    private readonly ttl: StateTtls,
  ) {
    this.idleTtls = [ttl.idleTtlMs, ttl.intentTtlMs];
  }

  acquire(id: ActorId, owner: string, lockDurationMs: number): LuaCall<AcquiredReply> {
    return scripts.acquire.call([this.keyOf(id)], [owner, lockDurationMs, ...this.idleTtls, STATE_VERSION]);
  }

  recordCauses(id: ActorId, causes: ResourceVersions, unanswered: readonly UnansweredWrite[] = []): LuaCall {
    const ttlMs = stateTtlMs({ isSettled: unanswered.length === 0 }, this.ttl);
    const ttls = [ttlMs, this.ttl.intentTtlMs];
    return this.of('recordCause', id, [...ttls, ...encoded(unanswered), ...pairs(causes)]);
  }

  release(id: ActorId, proof: LockProof, state: FinalState): LuaCall {
    return this.of('release', id, this.releaseArgs(proof, state));
  }

  /** Fails with {@link REFUSED}, and with it the whole step, if the lock was lost. */
  releaseOrFail(id: ActorId, proof: LockProof, state: FinalState): LuaCall {
    return releaseOrFail.call([this.keyOf(id)], this.releaseArgs(proof, state));
  }

  private releaseArgs(proof: LockProof, state: FinalState): (string | number)[] {
    return [
      ...proofArgs(proof),
      stateTtlMs(state, this.ttl),
      this.ttl.intentTtlMs,
      STATE_VERSION,
      state.clearIntents ? 1 : 0,
      state.isInterruptionSettled ? 1 : 0,
      ...encoded(state.settled),
      ...encoded(state.unanswered),
      ...pairs(state.ownWrites),
    ];
  }

  of(
    name: Exclude<keyof typeof scripts, 'acquire'>,
    id: ActorId,
    args: readonly (string | number)[],
  ): LuaCall {
    return scripts[name].call([this.keyOf(id)], args);
  }

  private keyOf({ controller, key }: ActorId): string {
    return `{${this.keyPrefix}:actor:${controller}:${key}}`;
  }
}

export function proofArgs(proof: LockProof): [string, string] {
  return [String(proof.token), proof.owner];
}

export function pairs(versions: ResourceVersions): string[] {
  return Object.entries(versions).flat();
}

/** The count, then each write as text. */
function encoded(writes: readonly UnansweredWrite[]): (string | number)[] {
  return [writes.length, ...writes.map(encodeUnansweredWrite)];
}

/** Reads the reply to {@link RedisActorCalls.acquire}. */
export function parseAcquired(answer: AcquiredReply): AcquireOutcome {
  if (answer[0] === 'held') return { kind: 'held', retryAfterMs: answer[1] };
  if (answer[0] === 'unknown-version') return { kind: 'unknown-version', version: answer[1] };
  return { kind: 'acquired', token: Number(answer[1]), ...parseState(answer[2], Number(answer[3])) };
}

/** Releases up to 0.1 did not say when. */
function ageOf(recordedAtMs: string, nowMs: number): Pick<UnansweredWrite, 'ageMs'> {
  return recordedAtMs === UNKNOWN_TIME ? {} : { ageMs: Math.max(nowMs - Number(recordedAtMs), 0) };
}

function parseState(
  fields: readonly string[],
  nowMs: number,
): Omit<Extract<AcquireOutcome, { kind: 'acquired' }>, 'kind' | 'token'> {
  const mustHaveSeen: Record<string, string> = {};
  const unanswered: UnansweredWrite[] = [];
  let intents: unknown;
  let followsInterruption = false;
  for (const [field, value] of pairsOf(fields)) {
    const resource = /^(?:own|cause):(.*)$/.exec(field)?.[1];
    if (resource !== undefined) mustHaveSeen[resource] = newerResourceVersion(mustHaveSeen[resource], value);
    else if (field === 'intents') intents = parseJson(value);
    else if (field === 'interrupted') followsInterruption = true;
    else if (field.startsWith(UNANSWERED))
      unanswered.push({ ...parseUnansweredWrite(field.slice(UNANSWERED.length)), ...ageOf(value, nowMs) });
  }
  return { mustHaveSeen, intents, unanswered, followsInterruption };
}
