import type { WatchEvent } from '../kit/api-client/index.js';
import type { KubernetesObject, ResourceType } from '../base/kubernetes/index.js';
import { qualifiedResource } from '../base/kubernetes/index.js';
import { FakeCluster } from './fake-cluster.js';

/** With a watch of what happens to a type from now on; selectors are not heeded. */
export class WatchableCluster extends FakeCluster {
  override async *watch<T extends KubernetesObject>(
    type?: ResourceType,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncIterable<WatchEvent<T>> {
    const waiting: WatchEvent<T>[] = [];
    let wake = (): void => undefined;
    const stop = this.onEvent((changed, event) => {
      if (type && qualifiedResource(changed) !== qualifiedResource(type)) return;
      waiting.push(event as unknown as WatchEvent<T>);
      wake();
    });
    signal?.addEventListener('abort', () => wake());
    while (!signal?.aborted) {
      const next = waiting.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    stop();
  }
}
