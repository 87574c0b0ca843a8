import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newestOfEach } from '@rollkeeper/machinery/kubernetes';

/**
 * After this time, milliseconds, a cache shows a write or knows that its watch has failed: by default, a watch that has
 * fallen silent is noticed after 25 s at most.
 */
const COUNTS_FOR_MS = 60_000;

/** The newest versions that were written lately, by the namespace of the keys. */
export class WrittenVersions {
  private readonly byNamespace = new Map<
    string,
    { readonly versions: ResourceVersions; readonly atMs: number }
  >();

  constructor(private readonly nowMs: () => number) {}

  note(namespace: string, versions: ResourceVersions): void {
    if (Object.keys(versions).length === 0) return;
    const earlier = this.byNamespace.get(namespace)?.versions ?? {};
    // The newest is the last, so that the old ones are in front.
    this.byNamespace.delete(namespace);
    this.byNamespace.set(namespace, { versions: newestOfEach(earlier, versions), atMs: this.nowMs() });
  }

  /** Those that count; the others are forgotten. */
  all(): ReadonlyMap<string, ResourceVersions> {
    const oldestMs = this.nowMs() - COUNTS_FOR_MS;
    for (const [namespace, { atMs }] of this.byNamespace) {
      if (atMs > oldestMs) break;
      this.byNamespace.delete(namespace);
    }
    return new Map([...this.byNamespace].map(([namespace, { versions }]) => [namespace, versions]));
  }
}
