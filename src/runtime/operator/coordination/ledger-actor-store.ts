import { hasCode } from '@rollkeeper/machinery/errors';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newestOfEach } from '@rollkeeper/machinery/kubernetes';
import type {
  AcquireOutcome,
  ActorId,
  ActorStore,
  FinalState,
  LockProof,
  MemoryActorStore,
  UnansweredWrite,
} from '../../activation/index.js';
import type { LeaderTerm } from '../../work-queue/index.js';
import type { IntentLedger } from './intent-ledger.js';

/**
 * Actors of a process that works alone while it leads: locks and state in its memory, and what must outlive it in a
 * ledger.
 */
export class LedgerActorStore implements ActorStore {
  constructor(
    private readonly memory: MemoryActorStore,
    private readonly ledger: IntentLedger,
  ) {}

  /** Forgets everything of earlier terms, and begins with what their last leader left. @throws SupersededError */
  async begin(term: LeaderTerm, signal: AbortSignal): Promise<void> {
    const { intents, unanswered } = await this.ledger.begin(term, signal);
    this.memory.inherit(intents, unanswered);
  }

  /** Leaves what the next leader has to know. After the last activation. */
  handOver(): Promise<void> {
    return this.ledger.handOver(this.memory.unanswered());
  }

  async acquire(id: ActorId, owner: string, lockDurationMs: number): Promise<AcquireOutcome> {
    const outcome = await this.memory.acquire(id, owner, lockDurationMs);
    if (outcome.kind !== 'acquired') return outcome;
    // They may have expired, and no holder of the lock is storing any right now.
    if (outcome.intents === undefined) this.ledger.drop(id);
    this.ledger.dropUnless((stored) => this.memory.has(stored));
    const mustHaveSeen = newestOfEach(outcome.mustHaveSeen, this.ledger.mustHaveSeen(id));
    return { ...outcome, mustHaveSeen };
  }

  renew(id: ActorId, proof: LockProof, lockDurationMs: number): Promise<boolean> {
    return this.memory.renew(id, proof, lockDurationMs);
  }

  async release(id: ActorId, proof: LockProof, final: FinalState): Promise<boolean> {
    this.ledger.noteWritten(id, final.ownWrites);
    const isReleased = await this.memory.release(id, proof, final);
    if (isReleased && final.clearIntents) this.ledger.drop(id);
    return isReleased;
  }

  async storeIntents(
    id: ActorId,
    proof: LockProof,
    intents: unknown,
    ownWrites: ResourceVersions,
  ): Promise<boolean> {
    this.ledger.noteWritten(id, ownWrites);
    try {
      await this.ledger.put(id, intents);
    } catch (error) {
      // The lock of a key counts only while its holder leads.
      if (hasCode(error, 'SUPERSEDED')) return false;
      throw error;
    }
    const isStored = await this.memory.storeIntents(id, proof, intents, ownWrites);
    if (!isStored) await this.ledger.put(id, this.memory.intentsOf(id));
    return isStored;
  }

  async recordCauses(
    id: ActorId,
    causes: ResourceVersions,
    unanswered?: readonly UnansweredWrite[],
  ): Promise<void> {
    await this.memory.recordCauses(id, causes, unanswered);
  }
}
