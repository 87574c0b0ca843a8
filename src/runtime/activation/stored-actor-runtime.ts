import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import {
  KeyLockHeldError,
  KeyLockLostError,
  NewerStateError,
  isCancellation,
} from '@rollkeeper/machinery/errors';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newestOfEach, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { CACHES_SHOW_WITHIN_MS } from '../defaults.js';
import type { ActorId, ActorStore, AcquireOutcome, FinalState, LockProof } from './actor-store.js';
import type {
  ActivateOptions,
  Activation,
  ActorRuntime,
  EarlyAcquisition,
  LateRelease,
} from './activation.js';
import { runBounded } from './bounded-work.js';
import { KeyLock } from './key-lock.js';
import type { UnansweredWrite } from './unanswered-write.js';
import * as z from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** Options of the actors; all replicas must use the same. */
export interface ActorOptions {
  /** How long a crashed activation's lock remains. Renewed at every third of it. @default 2500 */
  lockDurationMs?: number;
  /** Actor state expires after this idle time. @default 3600000 */
  idleTtlMs?: number;
  /**
   * Actor state with intents expires after this idle time. Much longer than any write may be under way, and than any
   * back-off: a key whose object exists is activated before. Only an object that was deleted while no replica ran leaves
   * intents that no activation clears. @default 86400000
   */
  intentTtlMs?: number;
  /**
   * Actor state expires this long after an activation that succeeded and left nothing open, neither intents nor a write
   * without an answer; long enough for every cache to show what was written. So do changes that no activation has taken
   * up. @default 60000
   */
  settledTtlMs?: number;
}

export type CompiledActorOptions = Readonly<Required<ActorOptions>>;

/** How long the state of an actor stays, milliseconds. */
export type StateTtls = Pick<CompiledActorOptions, 'idleTtlMs' | 'intentTtlMs' | 'settledTtlMs'>;

/** With less, an event-loop stall or a garbage collection looks like a crash. */
const MIN_LOCK_DURATION_MS = 300;

const schema = z
  .object({
    lockDurationMs: z.int().min(MIN_LOCK_DURATION_MS).default(2500),
    idleTtlMs: z.int().positive().default(3_600_000),
    intentTtlMs: z.int().positive().default(86_400_000),
    settledTtlMs: z.int().positive().default(CACHES_SHOW_WITHIN_MS),
  })
  .refine((options) => options.idleTtlMs >= 10 * options.lockDurationMs, {
    path: ['idleTtlMs'],
    message: 'must be at least ten times lockDurationMs, so that nothing vanishes under a lock',
  })
  .refine((options) => options.intentTtlMs >= options.idleTtlMs, {
    path: ['intentTtlMs'],
    message: 'must be at least idleTtlMs, so that intents do not vanish before the rest',
  });

/** @throws InvalidOptionError naming the option */
export function compileActorOptions(options: ActorOptions = {}): CompiledActorOptions {
  return compileOptions(schema, options, 'actor');
}

/** How long the state of an actor stays after its release, milliseconds, unless it has intents. */
export function stateTtlMs(
  { isSettled }: Pick<FinalState, 'isSettled'>,
  { idleTtlMs, settledTtlMs }: StateTtls,
): number {
  return isSettled ? settledTtlMs : idleTtlMs;
}

export interface StoredActorRuntimeDependencies {
  store: ActorStore;
  /** A new random string at each call. */
  newOwner: () => string;
  clock: Clock;
  logger?: Logger;
  options?: ActorOptions;
}

type Acquired = Extract<AcquireOutcome, { kind: 'acquired' }>;

/** The {@link ActorRuntime} on any {@link ActorStore}: acquire, renew, run, release. */
export class StoredActorRuntime implements ActorRuntime {
  private readonly store: ActorStore;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly newOwner: () => string;
  private readonly options: CompiledActorOptions;

  constructor(dependencies: StoredActorRuntimeDependencies) {
    this.store = dependencies.store;
    this.clock = dependencies.clock;
    this.logger = dependencies.logger ?? silentLogger;
    this.newOwner = dependencies.newOwner;
    this.options = compileActorOptions(dependencies.options);
  }

  async activate<R>(
    controller: string,
    key: string,
    signal: AbortSignal,
    work: (activation: Activation) => Promise<R>,
    { early, limit }: ActivateOptions = {},
  ): Promise<R> {
    const id = { controller, key };
    const { outcome: answer, owner, sentAtMs } = early ?? (await this.acquire(id, signal));
    const acquired = this.mustBeAcquired(id, answer);
    const proof = { token: acquired.token, owner };
    const lock = new KeyLock(this.lockDependencies(id, proof), sentAtMs);
    const either = new LinkedAbort(signal, lock.signal);
    const activation = new StoredActivation(this.store, id, proof, acquired, either.signal, lock, (error) =>
      this.logger.warn('a write could not be recorded', { ...id, error }),
    );
    // Not awaited: a hanging renewal must not delay the end, and after the release it has no effect.
    void lock.keep();
    let outcome: { result: R } | { error: unknown };
    try {
      activation.assertHeld();
      const bounds = { clock: this.clock, abort: either, limit, name: `${controller} ${key}` };
      outcome = { result: await runBounded(async () => work(activation), bounds) };
    } catch (error) {
      outcome = { error };
    }
    const lost = lock.signal.aborted;
    lock.stop();
    either.close();
    activation.close();
    if (!lost && 'result' in outcome && early?.releaseLater)
      early.releaseLater(this.lateRelease(activation, proof, outcome));
    else await this.end(activation, lost, outcome);
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  }

  private lateRelease(
    activation: StoredActivation,
    proof: LockProof,
    outcome: { result: unknown },
  ): LateRelease {
    return {
      ...{ proof, state: activation.finalState(true) },
      refused: () => this.keepOwnWrites(activation),
      alone: () => this.end(activation, false, outcome),
    };
  }

  recordCauses(controller: string, key: string, causes: ResourceVersions): Promise<void> {
    return this.store.recordCauses({ controller, key }, causes);
  }

  private async acquire(id: ActorId, signal: AbortSignal): Promise<EarlyAcquisition> {
    signal.throwIfAborted();
    const owner = this.newOwner();
    const sentAtMs = this.clock.monotonicNow();
    return { owner, sentAtMs, outcome: await this.store.acquire(id, owner, this.options.lockDurationMs) };
  }

  private mustBeAcquired(id: ActorId, outcome: AcquireOutcome): Acquired {
    if (outcome.kind === 'acquired') return outcome;
    const name = `${id.controller} ${id.key}`;
    if (outcome.kind === 'held') {
      throw new KeyLockHeldError(`${name} is worked on elsewhere`, { retryAfterMs: outcome.retryAfterMs });
    }
    throw new NewerStateError(
      `the stored state of ${name} has version ${outcome.version}, written by a newer release; left to its replicas`,
    );
  }

  private lockDependencies(id: ActorId, proof: LockProof): ConstructorParameters<typeof KeyLock>[0] {
    return {
      name: `${id.controller} ${id.key}`,
      clock: this.clock,
      logger: this.logger,
      lockDurationMs: this.options.lockDurationMs,
      renew: () => this.store.renew(id, proof, this.options.lockDurationMs),
    };
  }

  /**
   * Releases the lock with the new state. If that fails, own writes are at least kept as causes, and so are unanswered
   * writes: the next activation must have seen them.
   */
  private async end(
    activation: StoredActivation,
    lost: boolean,
    outcome: { result: unknown } | { error: unknown },
  ): Promise<void> {
    const cause = 'error' in outcome ? outcome.error : undefined;
    try {
      if (!lost && (await activation.release('result' in outcome || isCancellation(cause)))) return;
    } catch (error) {
      await this.keepOwnWrites(activation);
      this.logger.warn('a key lock could not be released and will expire', { ...activation.names, error });
      if (cause === undefined) throw error;
      return;
    }
    await this.keepOwnWrites(activation);
    if (cause instanceof KeyLockLostError) throw cause;
    throw new KeyLockLostError(`the lock of ${activation.controller} ${activation.key} was lost`, { cause });
  }

  private async keepOwnWrites(activation: StoredActivation): Promise<void> {
    const { names, ownWrites, unansweredNow } = activation;
    if (Object.keys(ownWrites).length + unansweredNow.length === 0) return;
    try {
      await this.store.recordCauses(names, ownWrites, unansweredNow);
    } catch (error) {
      this.logger.warn('own writes could not be recorded', { ...activation.names, error });
    }
  }
}

class StoredActivation implements Activation {
  readonly controller: string;
  readonly key: string;
  readonly token: number;
  readonly unanswered: readonly UnansweredWrite[];
  /** The unanswered writes of this activation. */
  readonly unansweredNow: UnansweredWrite[] = [];
  mustHaveSeen: ResourceVersions;
  ownWrites: ResourceVersions = {};
  readonly followsInterruption: boolean;
  private currentIntents: unknown;
  private clearIntents = false;
  private isOver = false;
  private isInterruptionSettled = false;
  private readonly settled: UnansweredWrite[] = [];

  constructor(
    private readonly store: ActorStore,
    readonly names: ActorId,
    private readonly proof: LockProof,
    acquired: Acquired,
    readonly signal: AbortSignal,
    private readonly lock: KeyLock,
    private readonly onUnrecorded: (error: unknown) => void,
  ) {
    this.controller = names.controller;
    this.key = names.key;
    this.token = acquired.token;
    this.mustHaveSeen = acquired.mustHaveSeen;
    this.currentIntents = acquired.intents;
    this.unanswered = acquired.unanswered;
    this.followsInterruption = acquired.followsInterruption;
  }

  get intents(): unknown {
    return this.currentIntents;
  }

  assertHeld(): void {
    this.signal.throwIfAborted();
    if (this.isOver) throw new KeyLockLostError(`the activation of ${this.controller} ${this.key} is over`);
    this.lock.assertHeld();
  }

  async storeIntents(intents: unknown): Promise<void> {
    this.assertHeld();
    const stored = await this.store.storeIntents(this.names, this.proof, intents, this.ownWrites);
    if (!stored) throw new KeyLockLostError(`the lock of ${this.controller} ${this.key} was taken over`);
    this.currentIntents = intents;
    this.clearIntents = false;
  }

  clearIntentsOnRelease(): void {
    // A write that looks settled may depend on writes that were refused.
    if (this.signal.aborted || this.isOver) return;
    this.clearIntents = true;
    this.currentIntents = undefined;
  }

  recordOwnWrite(qualifiedResource: string, resourceVersion: string): void {
    const written = { [qualifiedResource]: resourceVersion };
    this.ownWrites = newestOfEach(this.ownWrites, written);
    if (this.isOver) this.recordLate(written, []);
  }

  noteUnanswered(write: UnansweredWrite): void {
    if (this.isOver) this.recordLate({}, [write]);
    else this.unansweredNow.push(write);
  }

  settleUnanswered(write: UnansweredWrite, resourceVersion?: string): void {
    this.settled.push(write);
    if (resourceVersion === undefined) return;
    const resource = qualifiedResource(write.type);
    this.recordOwnWrite(resource, resourceVersion);
    this.mustHaveSeen = newestOfEach(this.mustHaveSeen, { [resource]: resourceVersion });
  }

  settleInterruption(): void {
    this.isInterruptionSettled = true;
  }

  /** No operation may start in this activation any more. */
  close(): void {
    this.isOver = true;
  }

  /** @param hasEndedWell a failed activation may not have seen what it must have seen, and comes back after its back-off */
  release(hasEndedWell: boolean): Promise<boolean> {
    return this.store.release(this.names, this.proof, this.finalState(hasEndedWell));
  }

  finalState(hasEndedWell: boolean): FinalState {
    return {
      ownWrites: this.ownWrites,
      clearIntents: this.clearIntents,
      unanswered: this.unansweredNow,
      settled: this.settled,
      isInterruptionSettled: this.isInterruptionSettled,
      isSettled: hasEndedWell && this.hasAllAnswers,
    };
  }

  private get hasAllAnswers(): boolean {
    return this.unansweredNow.length === 0 && this.settled.length >= this.unanswered.length;
  }

  private recordLate(written: ResourceVersions, unanswered: readonly UnansweredWrite[]): void {
    this.store.recordCauses(this.names, written, unanswered).catch(this.onUnrecorded);
  }
}
