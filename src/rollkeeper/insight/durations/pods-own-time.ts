/**
 * The time during which at least one of several pods is awaited; overlapping waits count once. Times are monotonic
 * milliseconds, and never go back from call to call.
 */
export class PodsOwnTime {
  private readonly waitedFor = new Set<string>();
  /** Start of the current wait; meaningless while no pod is awaited. */
  private openSinceMs = 0;
  private countedMs = 0;
  /** Time before this is counted already. May be in the future. */
  private countedUntilMs = Number.NEGATIVE_INFINITY;

  begin(uid: string, nowMs: number): void {
    if (this.waitedFor.size === 0) this.openSinceMs = nowMs;
    this.waitedFor.add(uid);
  }

  /** @param lastsUntilMs when the wait ends, if that is known in advance */
  end(uid: string, lastsUntilMs: number): void {
    if (!this.waitedFor.delete(uid)) return;
    const fromMs = Math.max(this.openSinceMs, this.countedUntilMs);
    if (lastsUntilMs <= fromMs) return;
    this.countedMs += lastsUntilMs - fromMs;
    this.countedUntilMs = lastsUntilMs;
  }

  /** The total up to now. */
  until(nowMs: number): number {
    const tooMuchMs = Math.max(this.countedUntilMs - nowMs, 0);
    const openFromMs = Math.max(this.openSinceMs, this.countedUntilMs);
    const openMs = this.waitedFor.size === 0 ? 0 : Math.max(nowMs - openFromMs, 0);
    return this.countedMs - tooMuchMs + openMs;
  }
}
