import {
  compareResourceVersions,
  isComparableResourceVersion,
  isOnlyMetByList,
} from '@rollkeeper/machinery/kubernetes';

/** Of opaque versions, how many that went by are remembered. One that was forgotten costs a list, no more. */
const REMEMBERED_OPAQUE = 10_000;

/** How far a cache has come, by the versions that one watch and its lists have shown, in the order in which they came. */
export class CacheProgress {
  private newest: string | undefined;
  /** Of a server whose versions are no numbers, those that went by: all that can be known of them. */
  private readonly opaque = new Set<string>();
  /** The newest version that somebody asked for and the server turned out not to have. */
  private lostUpTo: string | undefined;

  /** Undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.newest;
  }

  /** Whether the cache shows this state, or a later one. Of an opaque version that was forgotten: no. */
  hasSeen(version: string): boolean {
    if (this.newest === undefined) return false;
    const order = compareResourceVersions(this.newest, version);
    return order === undefined ? version === '' || this.opaque.has(version) : order >= 0;
  }

  /** An event or a bookmark of the watch. */
  advanceTo(version: string): void {
    if (version === '') return;
    const order = this.newest === undefined ? undefined : compareResourceVersions(version, this.newest);
    // Watches tell in the order of the changes: what cannot be compared is newer because it came later.
    if (order === undefined || order > 0) this.newest = version;
    this.remember(version);
  }

  /** A list is the truth, also an older one: the server has gone back in time then. */
  replaceBy(version: string, ofItems: Iterable<string | undefined>): void {
    for (const one of ofItems) if (one) this.remember(one);
    this.newest = version;
    this.remember(version);
  }

  /** The cache shows what the server had after `version` was written: of an opaque one that counts as having seen it. */
  noteMet(version: string): void {
    this.remember(version);
  }

  /** The server is at `present`, and somebody has asked for `version`, which it therefore does not have, or no longer. */
  noteLost(version: string, present: string): void {
    const order = compareResourceVersions(version, present);
    if (order === undefined || order <= 0) return;
    const isFurther =
      this.lostUpTo === undefined || (compareResourceVersions(version, this.lostUpTo) ?? 0) > 0;
    if (isFurther) this.lostUpTo = version;
  }

  /** Whether waiting for `version` alone may well be in vain: no event tells of it, or the server lost what was there. */
  isDoubtful(version: string): boolean {
    if (isOnlyMetByList(version)) return true;
    return this.lostUpTo !== undefined && (compareResourceVersions(version, this.lostUpTo) ?? 1) <= 0;
  }

  private remember(version: string): void {
    if (isComparableResourceVersion(version)) return;
    this.opaque.delete(version);
    this.opaque.add(version);
    if (this.opaque.size > REMEMBERED_OPAQUE) this.opaque.delete(this.opaque.values().next().value as string);
  }
}
