/** An open watch. */
export interface PatrolledWatch {
  /** Begins it again, from where it is. */
  readonly doubt: () => void;
}

/**
 * Lets one of the watches of a server, the scout, find out for all of them that the way to the server is dead: it ends soon and
 * begins again, while the others are long. When a scout is dead, the others are doubted. A single connection that dies without the
 * others is noticed by its probes (TCP keep-alive), by those who wait for a change, or when its watch should have ended.
 */
export class WatchPatrol {
  private readonly open = new Set<PatrolledWatch>();
  private scout: PatrolledWatch | undefined;

  /** Returns whether the watch is the scout. */
  begin(watch: PatrolledWatch): boolean {
    this.open.add(watch);
    this.scout ??= watch;
    return this.scout === watch;
  }

  /** @param isDead the server did not end it when it should have */
  end(watch: PatrolledWatch, isDead: boolean): void {
    this.open.delete(watch);
    if (this.scout !== watch) return;
    // The next one to begin, most often the same informer's.
    this.scout = undefined;
    if (isDead) for (const other of [...this.open]) other.doubt();
  }
}
