import { isAborted, onAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { HeldLock } from '@rollkeeper/machinery/concurrency';

interface KeyLockDependencies {
  /** For messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lockDurationMs: number;
  /** One attempt; returns whether the lock is still ours. Rejects if the store does not answer. */
  readonly renew: () => Promise<boolean>;
}

/** Renewals per lock duration. */
const RENEWALS = 3;
/** Delay before retrying a failed renewal, as a share of the duration. */
const RETRY_SHARE = 0.1;
/**
 * Shared: creating an exception with its stack, as `abort` does without a reason, would be most of the cost of a
 * release.
 */
const LET_GO = new Error('the lock was let go');

/** The {@link HeldLock} of an actor, which it renews itself. */
export class KeyLock {
  private readonly held: HeldLock;
  /** Aborts when the lock ends for any reason: no more renewals. */
  private readonly over = new AbortController();

  /** @param sentAtMs monotonic clock, before the acquiring request was sent */
  constructor(
    private readonly dependencies: KeyLockDependencies,
    sentAtMs: number,
  ) {
    const { clock, lockDurationMs: durationMs, name } = dependencies;
    const expiredMessage = `the lock of ${name} could not be renewed in time`;
    this.held = new HeldLock({ clock, durationMs, expiredMessage }, sentAtMs);
    onAbort(this.held.signal, () => this.over.abort(LET_GO));
  }

  get signal(): AbortSignal {
    return this.held.signal;
  }

  /** @throws KeyLockLostError if the lock may have expired or was lost; see {@link HeldLock.assertHeld} */
  assertHeld(): void {
    this.held.assertHeld();
  }

  /** Renews until {@link stop} or until the lock is lost. Never rejects. */
  async keep(): Promise<void> {
    const { clock, lockDurationMs, logger, name } = this.dependencies;
    const over = this.over.signal;
    let pauseMs = lockDurationMs / RENEWALS;
    while (!over.aborted) {
      try {
        await clock.sleep(pauseMs, over);
        const sentAtMs = clock.monotonicNow();
        const isOurs = await this.dependencies.renew();
        if (isAborted(over)) return;
        if (!isOurs) return this.held.lose(`another replica has the lock of ${name}`);
        this.held.renewed(sentAtMs);
        pauseMs = Math.max(lockDurationMs / RENEWALS - (clock.monotonicNow() - sentAtMs), 0);
      } catch (error) {
        if (isAborted(over)) return;
        logger.warn('a key lock could not be renewed', { actor: name, error });
        pauseMs = lockDurationMs * RETRY_SHARE;
      }
    }
  }

  /** Stops renewals and aborts. */
  stop(): void {
    this.held.letGo();
    this.over.abort(LET_GO);
  }
}
