import type { Lister } from '@rollkeeper/client/informer';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { compareResourceVersions } from '@rollkeeper/machinery/kubernetes';

type ReadablePod = DeepReadonly<Pod>;

/** The newest known states of pods: from the cache, or from our own writes while the cache lags behind. */
export class WrittenPods {
  private readonly written = new Map<string, ReadablePod>();

  constructor(private readonly lister: Pick<Lister<Pod>, 'get'>) {}

  get(key: string): ReadablePod | undefined {
    const cached = this.lister.get(key);
    const own = this.written.get(key);
    if (!own) return cached;
    if (cached && cached.metadata.uid === own.metadata.uid && !isNewer(cached, own)) return own;
    this.written.delete(key);
    return cached;
  }

  /** Ignored if the cache does not show the pod: it was deleted during the write, and nothing would remove it here. */
  set(key: string, pod: ReadablePod): void {
    if (this.lister.get(key)?.metadata.uid === pod.metadata.uid) this.written.set(key, pod);
  }

  delete(key: string): void {
    this.written.delete(key);
  }
}

function isNewer(a: ReadablePod, b: ReadablePod): boolean {
  const order = compareResourceVersions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '');
  // If versions are not comparable, the watch wins.
  return order === undefined || order > 0;
}
