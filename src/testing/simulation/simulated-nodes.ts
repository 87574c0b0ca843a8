import type { Pod } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { SimulatedApi, StoredChange } from './simulated-api.js';
import type { SimulatedProcess } from './process.js';

/** How fast pods start and end, milliseconds. */
export interface NodePace {
  readonly start: readonly [least: number, most: number];
  readonly end: readonly [least: number, most: number];
}

const DEFAULT_PACE: NodePace = { start: [200, 4000], end: [100, 2000] };
const BIND_MS = [1, 50] as const;
const RETRY_MS = 500;
const ADDRESSES = 256;

/**
 * A scheduler and the kubelets of all nodes, in one process that needs no network: a pod is bound, becomes ready after a
 * while, and ends after a while when it is deleted. A pod whose image has `broken` in its name never becomes ready, and one
 * whose image has `absent` in it says that it cannot be pulled.
 */
export class SimulatedNodes {
  private readonly stopper = new AbortController();
  private bound = 0;
  private started = 0;
  /** UIDs of pods that have failed: they never run again. */
  private readonly failed = new Set<string>();
  /** The steps that have begun, by UID. */
  private readonly begun = new Set<string>();

  constructor(
    private readonly process: SimulatedProcess,
    private readonly api: SimulatedApi,
    private readonly pace: NodePace = DEFAULT_PACE,
  ) {}

  /** Follows a change of the store. */
  see({ deleted, object, resource }: StoredChange): void {
    if (resource !== 'pods' || deleted) return;
    const pod = object as Pod;
    if (pod.metadata.deletionTimestamp) this.once('end', pod, this.pace.end, () => this.end(pod));
    else if (!pod.spec.nodeName) this.once('bind', pod, BIND_MS, () => this.bind(pod));
    else if (pod.status?.phase === 'Pending') this.once('start', pod, this.pace.start, () => this.start(pod));
  }

  /** Ends a container: the pod has failed, and stays. */
  fail(pod: Pod): void {
    this.failed.add(pod.metadata.uid ?? '');
    void this.write('PATCH', pod, '/status', { status: { phase: 'Failed', reason: 'Evicted' } });
  }

  private async bind(pod: Pod): Promise<void> {
    const { name, namespace } = pod.metadata;
    this.bound += 1;
    const target = { kind: 'Node', name: `node-${this.bound % 3}` };
    await this.write('POST', pod, '/binding', {
      ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target },
    });
  }

  private async start(pod: Pod): Promise<void> {
    if (this.failed.has(pod.metadata.uid ?? '')) return;
    if (pod.spec.containers.some(({ image = '' }) => image.includes('broken'))) return;
    if (pod.spec.containers.some(({ image = '' }) => image.includes('absent'))) return this.cannotPull(pod);
    const nowText = toRfc3339(this.process.clock.now());
    const conditions = ['Ready', 'ContainersReady', 'Initialized', 'PodScheduled'].map((type) => ({
      ...{ type, status: 'True', lastTransitionTime: nowText },
    }));
    await this.write('PATCH', pod, '/status', {
      status: { phase: 'Running', startTime: nowText, podIP: this.nextAddress(), conditions },
    });
  }

  /** No two pods of a run have the same. */
  private nextAddress(): string {
    this.started += 1;
    return `10.0.${Math.floor(this.started / ADDRESSES)}.${this.started % ADDRESSES}`;
  }

  private cannotPull(pod: Pod): Promise<void> {
    const containerStatuses = pod.spec.containers.map(({ image = '', name }) => ({
      ...{ name, image, imageID: '', ready: false, restartCount: 0 },
      state: { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } },
    }));
    return this.write('PATCH', pod, '/status', { status: { phase: 'Pending', containerStatuses } });
  }

  private async end(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    await this.write('DELETE', pod, '', {
      ...{ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } },
    });
  }

  private async write(method: string, { metadata }: Pod, subresource: string, body: object): Promise<void> {
    const url = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}${subresource}`;
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const { status } = await this.api.answer({
      ...{ method, url, headers: { 'content-type': type }, body: JSON.stringify(body) },
      signal: this.stopper.signal,
    });
    this.process.kernel.note(this.process.name, this.process.name, `${method} ${url} ${status}`);
    if (status >= 500 || status === 429)
      this.process.after(RETRY_MS, () => void this.write(method, { metadata } as Pod, subresource, body));
  }

  private once(
    what: string,
    { metadata }: Pod,
    [least, most]: readonly [number, number],
    act: () => Promise<void>,
  ): void {
    const id = `${what} ${metadata.uid}`;
    if (this.begun.has(id)) return;
    this.begun.add(id);
    this.process.after(least + (most - least) * this.process.random.next(), () => void act());
  }
}
