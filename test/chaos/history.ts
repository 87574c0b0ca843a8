import type { ApiClient } from '../../src/client/api-client/index.js';
import { isExpired } from '../../src/client/api-client/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  Pod,
  ReplicaSet,
  compareResourceVersions,
  newerResourceVersion,
} from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

export type RecordedKind = 'Deployment' | 'ReplicaSet' | 'Pod' | 'Service' | 'EndpointSlice' | 'HTTPRoute';

/** One change of the store, as the watch log has it. */
export interface HistoryEvent {
  readonly kind: RecordedKind;
  readonly deleted: boolean;
  readonly resourceVersion: string;
  /** `performance.now()`. */
  readonly seenAtMs: number;
  readonly object: KubernetesObject;
}

const RECORDED: readonly ResourceType[] = [Deployment, ReplicaSet, Pod];
const RETRY_MS = 100;

/**
 * Every change of Deployments, ReplicaSets, pods and what a run adds in some namespaces, in the store's order and without a gap: after
 * an outage it goes on from the last change it has seen. A gap that cannot be closed (410) is counted, never hidden.
 */
export class History {
  private recorded: HistoryEvent[] = [];
  private readonly stopper = new AbortController();
  private readonly watching: Promise<void>[] = [];
  private readonly seen = new Map<string, string>();
  gaps = 0;
  /** Called with each change as it comes. */
  onEvent: ((event: HistoryEvent) => void) | undefined;

  constructor(
    private readonly client: ApiClient,
    private readonly namespaces: string | readonly string[],
    private readonly added: readonly ResourceType[] = [],
  ) {}

  /** Several namespaces are watched as all of them, so that one watch of a type keeps the order. */
  private get scope(): { readonly namespace?: string } {
    return typeof this.namespaces === 'string' ? { namespace: this.namespaces } : {};
  }

  private isIn({ metadata }: KubernetesObject): boolean {
    const { namespaces } = this;
    return typeof namespaces === 'string' || namespaces.includes(metadata.namespace ?? '');
  }

  private get types(): readonly ResourceType[] {
    return [...RECORDED, ...this.added];
  }

  async start(): Promise<void> {
    for (const type of this.types) {
      const { items, resourceVersion } = await this.client.list(type, this.scope);
      for (const object of items) this.note(type, object, false);
      this.watching.push(this.watch(type, resourceVersion));
    }
  }

  async stop(): Promise<void> {
    this.stopper.abort(new Error('recorded enough'));
    await Promise.all(this.watching);
  }

  /** Resolves once it shows every object as the store has it now, or has a gap. Only while nothing changes. */
  async untilComplete(): Promise<void> {
    const isComplete = async (): Promise<boolean> => {
      // It never will be.
      if (this.gaps > 0) return true;
      let objects = 0;
      for (const type of this.types) {
        const { items } = await this.client.list(type, this.scope);
        const own = items.filter((object) => this.isIn(object));
        objects += own.length;
        for (const { metadata } of own)
          if (this.seen.get(metadata.uid ?? '') !== metadata.resourceVersion) return false;
      }
      return objects === this.seen.size;
    };
    await waitFor(isComplete, { timeoutMs: 30_000, intervalMs: 100, what: 'the history to be complete' });
  }

  /** Returns the events that were recorded since the last call, in the store's order. */
  take(): HistoryEvent[] {
    const events = this.recorded.sort(
      (a, b) => compareResourceVersions(a.resourceVersion, b.resourceVersion) ?? 0,
    );
    this.recorded = [];
    return events;
  }

  private async watch(type: ResourceType, from: string): Promise<void> {
    let resourceVersion = from;
    const { signal } = this.stopper;
    const limits = { timeoutSeconds: 300, idleTimeoutMs: 310_000, signal };
    while (!signal.aborted) {
      try {
        const options = { ...this.scope, resourceVersion, ...limits };
        for await (const event of this.client.watch(type, options)) {
          const next =
            event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
          resourceVersion = newerResourceVersion(resourceVersion, next ?? resourceVersion);
          if (event.type !== 'BOOKMARK') this.note(type, event.object, event.type === 'DELETED');
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isExpired(error)) {
          this.gaps += 1;
          resourceVersion = (await this.client.list(type, this.scope)).resourceVersion;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  private note(type: ResourceType, object: KubernetesObject, deleted: boolean): void {
    if (!this.isIn(object)) return;
    const { resourceVersion = '0', uid = '' } = object.metadata;
    if (deleted) this.seen.delete(uid);
    else this.seen.set(uid, resourceVersion);
    const kind = type.kind as RecordedKind;
    const event = { kind, deleted, resourceVersion, seenAtMs: performance.now(), object };
    this.recorded.push(event);
    this.onEvent?.(event);
  }
}
