import {
  compareResourceVersions,
  isComparableResourceVersion,
  isOnlyMetByList,
} from '@rollkeeper/machinery/kubernetes';

/** Limit of remembered opaque versions. A forgotten one costs a list, no more. */
const REMEMBERED_OPAQUE = 10_000;

/** How far a cache has progressed, by the versions shown by its watch and lists, in the order of arrival. */
export class CacheProgress {
  private newest: string | undefined;
  /** Versions seen on a server whose versions are not numbers: nothing else is known of them. */
  private readonly opaque = new Set<string>();
  /** The newest awaited version that the server turned out not to have. */
  private lostUpTo: string | undefined;

  /** Undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.newest;
  }

  /** Whether the cache shows this version or a later one. False for a forgotten opaque version. */
  hasSeen(version: string): boolean {
    if (this.newest === undefined) return false;
    const order = compareResourceVersions(this.newest, version);
    return order === undefined ? version === '' || this.opaque.has(version) : order >= 0;
  }

  /** An event or a bookmark of the watch. */
  advanceTo(version: string): void {
    if (version === '') return;
    const order = this.newest === undefined ? undefined : compareResourceVersions(version, this.newest);
    // A watch is ordered: an incomparable version is newer because it came later.
    if (order === undefined || order > 0) this.newest = version;
    this.remember(version);
  }

  /** A list is authoritative, even an older one: the server has then gone back in time. */
  replaceBy(version: string, ofItems: Iterable<string | undefined>): void {
    for (const one of ofItems) if (one) this.remember(one);
    this.newest = version;
    this.remember(version);
  }

  /** The cache shows what the server had after `version` was written; for an opaque version that counts as seen. */
  noteMet(version: string): void {
    this.remember(version);
  }

  /** The server is at `present`, so it does not have the awaited `version`, or no longer. */
  noteLost(version: string, present: string): void {
    const order = compareResourceVersions(version, present);
    if (order === undefined || order <= 0) return;
    const isFurther =
      this.lostUpTo === undefined || (compareResourceVersions(version, this.lostUpTo) ?? 0) > 0;
    if (isFurther) this.lostUpTo = version;
  }

  /** Whether waiting for `version` may never end: no event carries it, or the server lost it. */
  isDoubtful(version: string): boolean {
    if (isOnlyMetByList(version)) return true;
    return this.lostUpTo !== undefined && (compareResourceVersions(version, this.lostUpTo) ?? 1) <= 0;
  }

  private remember(version: string): void {
    if (isComparableResourceVersion(version)) return;
    this.opaque.delete(version);
    this.opaque.add(version);
    const [oldest = version] = this.opaque;
    if (this.opaque.size > REMEMBERED_OPAQUE) this.opaque.delete(oldest);
  }
}
