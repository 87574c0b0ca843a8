import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newestOfEach } from '@rollkeeper/machinery/kubernetes';
import { ExpiringMap } from '@rollkeeper/machinery/clock';
import { CACHES_SHOW_WITHIN_MS } from '../../defaults.js';

/** The newest versions that were written lately, by the namespace of the keys. */
export class WrittenVersions {
  private readonly byNamespace: ExpiringMap<ResourceVersions>;

  constructor(nowMs: () => number) {
    this.byNamespace = new ExpiringMap(nowMs, CACHES_SHOW_WITHIN_MS);
  }

  note(namespace: string, versions: ResourceVersions): void {
    if (Object.keys(versions).length === 0) return;
    const earlier = this.byNamespace.get(namespace) ?? {};
    this.byNamespace.set(namespace, newestOfEach(earlier, versions), CACHES_SHOW_WITHIN_MS);
  }

  /** The versions that count. */
  all(): ReadonlyMap<string, ResourceVersions> {
    return new Map(this.byNamespace.all());
  }
}
