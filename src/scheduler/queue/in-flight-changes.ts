import type { ReadablePod } from '../framework/node-info.js';
import type { ClusterChange } from './cluster-change.js';

interface Attempt {
  /** The newest state of the pod; undefined once it was deleted or needs no node any more. */
  pod: ReadablePod | undefined;
  readonly from: number;
}

/**
 * The changes since each attempt that is under way began: an attempt decides by a snapshot, so a change after it must
 * be considered when the pod is put back. Costs nothing while no attempt is under way.
 */
export class InFlightChanges {
  /** In the order in which the attempts began, so that the first needs the most. */
  private readonly attempts = new Map<string, Attempt>();
  private changes: ClusterChange[] = [];
  /** How many have been dropped before the first of `changes`. */
  private dropped = 0;

  get size(): number {
    return this.attempts.size;
  }

  has(key: string): boolean {
    return this.attempts.has(key);
  }

  begin(key: string, pod: ReadablePod): void {
    this.attempts.set(key, { pod, from: this.dropped + this.changes.length });
  }

  note(change: ClusterChange): void {
    if (this.attempts.size > 0) this.changes.push(change);
  }

  /** The pod of an attempt has changed. Undefined: it was deleted or needs no node any more. */
  follow(key: string, pod: ReadablePod | undefined): void {
    const attempt = this.attempts.get(key);
    if (attempt) attempt.pod = pod;
  }

  /** @returns the pod as it is now, if it is still there, and all changes since the attempt began; undefined for an unknown one */
  end(key: string): { readonly pod?: ReadablePod; readonly changes: readonly ClusterChange[] } | undefined {
    const attempt = this.attempts.get(key);
    if (!attempt) return undefined;
    const changes = this.changes.slice(attempt.from - this.dropped);
    this.attempts.delete(key);
    this.forgetUnneeded();
    return { ...(attempt.pod && { pod: attempt.pod }), changes };
  }

  private forgetUnneeded(): void {
    const [oldest] = this.attempts.values();
    const needed = oldest?.from ?? this.dropped + this.changes.length;
    if (needed === this.dropped) return;
    this.changes = this.changes.slice(needed - this.dropped);
    this.dropped = needed;
  }
}
