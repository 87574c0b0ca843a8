import type { Clock } from '@rollkeeper/machinery/clock';
import type {
  LeaderElectionRecord,
  LeaseAttempt,
  LeaseRequest,
  ResourceLock,
} from '@rollkeeper/runtime/leader-election';

/** Faults of a lock's next messages: the delay each way, or loss. */
export interface LinkFaults {
  requestMs: number;
  answerMs: number;
  loseRequests: boolean;
  loseAnswers: boolean;
  loseWakes: boolean;
}

export const NO_FAULTS: LinkFaults = {
  requestMs: 0,
  answerMs: 0,
  loseRequests: false,
  loseAnswers: false,
  loseWakes: false,
};

/**
 * A lock behind a bad link. Ignores signals, as a request in flight does. `faults` are read when a message is sent and
 * may be changed at any time.
 */
export class FaultyResourceLock implements ResourceLock {
  faults: LinkFaults = NO_FAULTS;

  constructor(
    private readonly inner: ResourceLock,
    /** The network's clock. */
    private readonly network: Clock,
    /** Runs a callback of the process: later, if it is paused. */
    private readonly deliver: (callback: () => void) => void = (callback) => callback(),
  ) {}

  get identity(): string {
    return this.inner.identity;
  }

  describe(): string {
    return `${this.inner.describe()} behind a bad link`;
  }

  get(): Promise<LeaderElectionRecord | undefined> {
    return this.send(() => this.inner.get());
  }

  tryAcquireOrRenew(leaseDurationMs: number, request: LeaseRequest = {}): Promise<LeaseAttempt> {
    const { signal: _, ...rest } = request;
    return this.send(() => this.inner.tryAcquireOrRenew(leaseDurationMs, rest));
  }

  release(): Promise<boolean> {
    return this.send(() => this.inner.release());
  }

  onReleased(wake: () => void): () => void {
    return this.inner.onReleased(() => {
      if (!this.faults.loseWakes) this.deliver(wake);
    });
  }

  /** Any request to the store's side of the link. */
  send<T>(ask: () => Promise<T>): Promise<T> {
    const { requestMs, answerMs, loseRequests, loseAnswers } = this.faults;
    return new Promise((resolve, reject) => {
      if (loseRequests) return;
      this.later(requestMs, () => {
        ask().then((answer) => {
          if (!loseAnswers) this.later(answerMs, () => this.deliver(() => resolve(answer)));
        }, reject);
      });
    });
  }

  private later(delayMs: number, callback: () => void): void {
    if (delayMs === 0) callback();
    else this.network.setTimeout(callback, delayMs);
  }
}
