import type { Clock } from '@rollkeeper/machinery/clock';
import { ExpiringMap } from '@rollkeeper/machinery/clock';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newestOfEach, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { AcquireOutcome, ActorId, ActorStore, FinalState, LockProof } from './actor-store.js';
import type { ActorOptions, CompiledActorOptions } from './stored-actor-runtime.js';
import { compileActorOptions, stateTtlMs } from './stored-actor-runtime.js';
import type { ActorState } from './activation.js';
import type { StoredLock } from './stored-lock.js';
import {
  acquiredLock,
  isInterrupted,
  isProvenBy,
  lockedForMs,
  mustHaveSeenOf,
  releasedLock,
  renewedLock,
  stateAfterRelease,
  stateWithIntents,
} from './stored-lock.js';
import type { UnansweredWrite } from './unanswered-write.js';
import { encodeUnansweredWrite, parseUnansweredWrite } from './unanswered-write.js';

interface Entry {
  state: { -readonly [Field in Exclude<keyof ActorState, 'unanswered'>]: ActorState[Field] };
  causes: ResourceVersions;
  /** Encoded as text, as in Redis; with when they were recorded, by the monotonic clock. Undefined: by another process. */
  unanswered: Map<string, number | undefined>;
  lock: StoredLock;
  /** An activation never released its lock, and none has found out since what it had written. */
  isInterrupted: boolean;
}

/** How often expired entries are removed, milliseconds. */
const SWEEP_EVERY_MS = 30_000;

/** Actors in one process's memory; several runtimes on one store simulate several replicas. */
export class MemoryActorStore implements ActorStore {
  private readonly entries: ExpiringMap<Entry>;
  private readonly options: CompiledActorOptions;
  private lastToken = 0;
  /** When the state was last inherited, by the monotonic clock. */
  private inheritedAtMs = -Infinity;

  constructor(
    private readonly clock: Clock,
    options?: ActorOptions,
  ) {
    this.options = compileActorOptions(options);
    this.entries = new ExpiringMap(() => clock.monotonicNow(), SWEEP_EVERY_MS);
  }

  /** How many actors are stored, including those that have expired lately. */
  get size(): number {
    return this.entries.size;
  }

  async acquire(id: ActorId, owner: string, lockDurationMs: number): Promise<AcquireOutcome> {
    const entry = this.entryOf(id);
    const nowMs = this.clock.monotonicNow();
    const version: number = entry.state.version;
    if (version !== 1) return { kind: 'unknown-version', version };
    const retryAfterMs = lockedForMs(entry.lock, nowMs);
    if (retryAfterMs > 0) return { kind: 'held', retryAfterMs };
    const lock = acquiredLock(this.lastToken, owner, nowMs, lockDurationMs);
    const { token } = lock;
    this.lastToken = token;
    entry.isInterrupted ||= isInterrupted(entry.lock);
    entry.lock = lock;
    this.keep(id, entry);
    const mustHaveSeen = mustHaveSeenOf(entry.causes, entry.state);
    const unanswered = [...entry.unanswered].map(([text, recordedAtMs]) => ({
      ...parseUnansweredWrite(text),
      ...(recordedAtMs !== undefined && { ageMs: nowMs - recordedAtMs }),
    }));
    const { intents } = entry.state;
    const followsInterruption = entry.isInterrupted;
    return { kind: 'acquired', token, mustHaveSeen, intents, unanswered, followsInterruption };
  }

  async renew(id: ActorId, proof: LockProof, lockDurationMs: number): Promise<boolean> {
    const entry = this.heldBy(id, proof);
    if (!entry) return false;
    entry.lock = renewedLock(entry.lock, this.clock.monotonicNow(), lockDurationMs);
    this.keep(id, entry);
    return true;
  }

  async release(id: ActorId, proof: LockProof, final: FinalState): Promise<boolean> {
    const entry = this.heldBy(id, proof);
    if (!entry) return false;
    entry.state = stateAfterRelease(entry.state, final);
    for (const write of final.settled) entry.unanswered.delete(encodeUnansweredWrite(write));
    addUnanswered(entry, final.unanswered, this.clock.monotonicNow());
    entry.lock = releasedLock(entry.lock);
    if (final.isInterruptionSettled) entry.isInterrupted = false;
    this.keep(id, entry, stateTtlMs(final, this.options));
    return true;
  }

  async storeIntents(
    id: ActorId,
    proof: LockProof,
    intents: unknown,
    ownWrites: ResourceVersions,
  ): Promise<boolean> {
    const entry = this.heldBy(id, proof);
    if (!entry) return false;
    const stored: unknown = intents === undefined ? undefined : parseJson(stringifyJson(intents));
    entry.state = stateWithIntents(entry.state, stored, ownWrites);
    this.keep(id, entry);
    return true;
  }

  async recordCauses(
    id: ActorId,
    causes: ResourceVersions,
    unanswered: readonly UnansweredWrite[] = [],
  ): Promise<void> {
    const entry = this.entryOf(id);
    entry.causes = newestOfEach(entry.causes, causes);
    addUnanswered(entry, unanswered, this.clock.monotonicNow());
    const ttlMs = stateTtlMs({ isSettled: unanswered.length === 0 }, this.options);
    const leftMs = this.entries.leftMsOf(nameOf(id));
    this.keep(id, entry, Math.max(leftMs, ttlMs));
  }

  /** Whether state of the actor is stored that has not expired. */
  has(id: ActorId): boolean {
    return this.entries.get(nameOf(id)) !== undefined;
  }

  intentsOf(id: ActorId): unknown {
    return this.entries.get(nameOf(id))?.state.intents;
  }

  /** The actors with writes whose outcome is unknown. */
  unanswered(): (readonly [ActorId, readonly UnansweredWrite[]])[] {
    return this.entries
      .all()
      .flatMap(([name, { unanswered }]) =>
        unanswered.size > 0 ? [[idOf(name), [...unanswered.keys()].map(parseUnansweredWrite)] as const] : [],
      );
  }

  /**
   * Replaces all state with what the last leader left behind. The own writes without an answer remain: that leader, or this process when
   * the API could not be reached, may not have been able to say so. Tokens keep increasing. That leader may have been interrupted in
   * any activation: each actor follows an interruption until it is settled, or until every cache shows what was written then.
   */
  inherit(
    intents: readonly (readonly [ActorId, unknown])[],
    unanswered: readonly (readonly [ActorId, readonly UnansweredWrite[]])[],
  ): void {
    this.inheritedAtMs = this.clock.monotonicNow();
    const own = this.entries.all().filter(([, entry]) => entry.unanswered.size > 0);
    this.entries.clear();
    for (const [name, { unanswered: writes }] of own)
      this.keep(idOf(name), { ...this.newEntry(), unanswered: writes });
    for (const [id, stored] of intents) {
      const entry = this.entryOf(id);
      entry.state.intents = stored;
      this.keep(id, entry);
    }
    for (const [id, writes] of unanswered) {
      const entry = this.entryOf(id);
      addUnanswered(entry, writes);
      this.keep(id, entry);
    }
  }

  /** For tests: simulates state stored by a newer release. */
  setStateVersion(id: ActorId, version: number): void {
    const entry = this.entryOf(id);
    entry.state = { ...entry.state, version: version as 1 };
  }

  private heldBy(id: ActorId, proof: LockProof): Entry | undefined {
    const entry = this.entries.get(nameOf(id));
    return isProvenBy(entry?.lock, proof) ? entry : undefined;
  }

  private entryOf(id: ActorId): Entry {
    return this.entries.get(nameOf(id)) ?? this.newEntry();
  }

  private newEntry(): Entry {
    return {
      state: { version: 1, ownWrites: {}, intents: undefined },
      causes: {},
      unanswered: new Map(),
      lock: { token: undefined, owner: undefined, lockedUntilMs: 0 },
      isInterrupted: this.clock.monotonicNow() - this.inheritedAtMs < this.options.settledTtlMs,
    };
  }

  /** @param ttlMs unless the actor has intents, milliseconds */
  private keep(id: ActorId, entry: Entry, ttlMs = this.options.idleTtlMs): void {
    const hasIntents = entry.state.intents !== undefined;
    this.entries.set(nameOf(id), entry, hasIntents ? this.options.intentTtlMs : ttlMs);
  }
}

/** The first time counts of a write that is recorded twice. */
function addUnanswered(entry: Entry, writes: readonly UnansweredWrite[], recordedAtMs?: number): void {
  for (const text of writes.map(encodeUnansweredWrite))
    if (!entry.unanswered.has(text)) entry.unanswered.set(text, recordedAtMs);
}

function nameOf(id: ActorId): string {
  return `${id.controller} ${id.key}`;
}

function idOf(name: string): ActorId {
  const space = name.indexOf(' ');
  return { controller: name.slice(0, space), key: name.slice(space + 1) };
}
