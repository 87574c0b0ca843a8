import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { toRfc3339 } from '../../src/machinery/clock/index.js';
import type { Pod, ResourceType, UnstructuredObject } from '../../src/machinery/kubernetes/index.js';

/** An object with the fields that the server sets. */
export type Stored = UnstructuredObject & { status?: unknown };

interface Change {
  readonly revision: number;
  readonly line: string;
}

/** Watchers are notified no more often than this, milliseconds, as by the embedded server. */
const WATCH_BATCH_MS = 10;

/** All objects of one kind, by name, with their changes and watchers. */
export class LightCollection {
  readonly objects = new Map<string, Stored>();
  /** How many changes there were. */
  writes = 0;
  private readonly log: Change[] = [];
  private readonly watchers = new Set<ServerResponse>();
  private waiting: string[] = [];
  /** When watchers were notified last. */
  private notifiedAtMs = 0;
  /** The revision of its last change. */
  private lastRevision = 0;

  constructor(
    readonly type: ResourceType,
    private readonly nextRevision: () => number,
  ) {}

  get openWatches(): number {
    return this.watchers.size;
  }

  /** Stores an object without a change that watchers would see. */
  seed(object: Stored): void {
    this.objects.set(object.metadata.name, object);
  }

  create(object: UnstructuredObject): Stored {
    const { metadata } = object;
    const created: Stored = {
      status: {},
      ...object,
      metadata: { ...metadata, uid: randomUUID(), creationTimestamp: toRfc3339(Date.now()), generation: 1 },
    };
    const stored = this.store(created, 'ADDED');
    if (this.type.resource === 'pods') setImmediate(() => this.makeReady(metadata.name));
    return stored;
  }

  /** A new version of an object; it leaves the status alone, and a new spec is a new generation. */
  replace(current: Stored, sent: UnstructuredObject): Stored {
    const { creationTimestamp, generation = 1, uid } = current.metadata;
    const isSameSpec = JSON.stringify(sent['spec']) === JSON.stringify(current['spec']);
    const metadata = {
      ...sent.metadata,
      creationTimestamp,
      uid,
      generation: isSameSpec ? generation : generation + 1,
    };
    return this.store({ ...sent, metadata, status: current.status }, 'MODIFIED');
  }

  /** As Kubernetes does for Deployments and ReplicaSets: the status, and of the rest only the annotations. */
  replaceStatus(current: Stored, sent: Stored): Stored {
    const metadata = { ...current.metadata, annotations: sent.metadata.annotations };
    return this.store({ ...current, metadata, status: sent.status }, 'MODIFIED');
  }

  remove(object: Stored): Stored {
    this.objects.delete(object.metadata.name);
    return this.publish(object, 'DELETED');
  }

  /**
   * The objects from a token on, at most `limit` of them, and the token of those that follow. Undefined: there was a
   * change since the token was given, so that the list has to begin again.
   */
  page(
    token: string | null,
    limit: number,
  ): { readonly items: readonly Stored[]; readonly next?: string } | undefined {
    const [revision = '', first = '0'] = token?.split('-') ?? [String(this.lastRevision)];
    if (revision !== String(this.lastRevision)) return undefined;
    const [start, end] = [Number(first), Number(first) + limit];
    const items = [...this.objects.values()].slice(start, end);
    return { items, ...(end < this.objects.size && { next: `${revision}-${end}` }) };
  }

  watch(after: number, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    // The log holds already what is still to be sent: a watcher that comes in between must not get it twice.
    this.flush();
    for (const { line, revision } of this.log) if (revision > after) response.write(line);
    this.watchers.add(response);
    response.on('close', () => this.watchers.delete(response));
  }

  bookmark(revision: number): void {
    this.flush();
    const { kind } = this.type;
    const object = { kind, metadata: { resourceVersion: String(revision) } };
    const line = `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
    for (const watcher of this.watchers) watcher.write(line);
  }

  private store(object: Stored, type: 'ADDED' | 'MODIFIED'): Stored {
    const stored = this.publish(object, type);
    this.objects.set(object.metadata.name, stored);
    return stored;
  }

  private publish(object: Stored, type: string): Stored {
    const revision = this.nextRevision();
    this.lastRevision = revision;
    this.writes++;
    const published = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const line = `${JSON.stringify({ type, object: published })}\n`;
    this.log.push({ revision, line });
    this.waiting.push(line);
    if (this.waiting.length === 1) void this.flushSoon();
    return published;
  }

  private async flushSoon(): Promise<void> {
    await delay(Math.max(this.notifiedAtMs + WATCH_BATCH_MS - performance.now(), 0));
    this.flush();
  }

  private flush(): void {
    if (this.waiting.length === 0) return;
    const text = Buffer.from(this.waiting.join(''));
    this.waiting = [];
    this.notifiedAtMs = performance.now();
    for (const watcher of this.watchers) watcher.write(text);
  }

  private makeReady(name: string): void {
    const pod = this.objects.get(name) as unknown as Pod | undefined;
    if (!pod) return;
    const now = toRfc3339(Date.now());
    const conditions = ['PodScheduled', 'Ready'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    }));
    const ready = {
      ...pod,
      spec: { ...pod.spec, nodeName: 'node-0' },
      status: { phase: 'Running', startTime: now, conditions },
    };
    this.store(ready, 'MODIFIED');
  }
}
