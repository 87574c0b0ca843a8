/**
 * Decides which of several consumers of a queue takes a key at once. The others leave it alone for {@link
 * WorkQueueOptions.spreadAfterMs}: the leader sees every change first and knows which ones belong together, so
 * processing a key there costs fewer writes, and code that runs on one replica is compiled once.
 */
export interface Precedence {
  /** Whether this consumer takes keys at once now. */
  readonly isFirst: boolean;
  /** Calls `listener` after each change of `isFirst`. Returns the unsubscribe. */
  onChange(listener: () => void): () => void;
}

/** Precedence of the replica that leads, as long as it does. */
export class LeaderPrecedence implements Precedence {
  private readonly listeners = new Set<() => void>();
  private first = false;

  get isFirst(): boolean {
    return this.first;
  }

  set(isFirst: boolean): void {
    if (isFirst === this.first) return;
    this.first = isFirst;
    for (const listener of [...this.listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

/** Precedence of a single consumer, or of one among equals. */
export const ALWAYS_FIRST: Precedence = { isFirst: true, onChange: () => () => undefined };
