/**
 * The time in which at least one of several pods is waited for; waits that overlap count once. Times are monotonic
 * milliseconds, and never go back from call to call.
 */
export class PodsOwnTime {
  private readonly waitedFor = new Set<string>();
  /** Since when pods are waited for without a break; means nothing while none is. */
  private openSinceMs = 0;
  private countedMs = 0;
  /** What lies before is counted. May be in the future. */
  private countedUntilMs = Number.NEGATIVE_INFINITY;

  begin(uid: string, nowMs: number): void {
    if (this.waitedFor.size === 0) this.openSinceMs = nowMs;
    this.waitedFor.add(uid);
  }

  /** @param lastsUntilMs when the wait is over, where it is known that it is not over yet */
  end(uid: string, lastsUntilMs: number): void {
    if (!this.waitedFor.delete(uid)) return;
    const fromMs = Math.max(this.openSinceMs, this.countedUntilMs);
    if (lastsUntilMs <= fromMs) return;
    this.countedMs += lastsUntilMs - fromMs;
    this.countedUntilMs = lastsUntilMs;
  }

  /** All of it up to now. */
  until(nowMs: number): number {
    const tooMuchMs = Math.max(this.countedUntilMs - nowMs, 0);
    const openFromMs = Math.max(this.openSinceMs, this.countedUntilMs);
    const openMs = this.waitedFor.size === 0 ? 0 : Math.max(nowMs - openFromMs, 0);
    return this.countedMs - tooMuchMs + openMs;
  }
}
