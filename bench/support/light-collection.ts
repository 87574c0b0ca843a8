import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectShard } from '../../src/client/api-client/index.js';
import { toRfc3339 } from '../../src/machinery/clock/index.js';
import type { Pod, ResourceType, UnstructuredObject } from '../../src/machinery/kubernetes/index.js';
import { keyOf } from '../../src/machinery/kubernetes/index.js';
import { LightWatchers } from './light-watchers.js';

/** An object with the fields that the server sets. */
export type Stored = UnstructuredObject & { status?: unknown };

interface Change {
  readonly revision: number;
  readonly namespace: string;
  readonly line: string;
}

/** A list that a client has begun to read in pages. */
interface Snapshot {
  readonly revision: number;
  readonly items: readonly Stored[];
}

export interface Page {
  readonly revision: number;
  readonly items: readonly Stored[];
  /** The token of those that follow. */
  readonly next?: string;
}

/** Watchers are notified no more often than this, milliseconds, as by the embedded server. */
const WATCH_BATCH_MS = 10;
/** A watch can begin after any of the last so many changes. */
const KEPT_CHANGES = 20_000;
/** Lists in pages that can be gone on with. */
const KEPT_SNAPSHOTS = 200;

/** All objects of one kind, by `namespace/name`, with their changes and watchers. */
export class LightCollection {
  readonly objects = new Map<string, Stored>();
  readonly watchers = new LightWatchers();
  /** How many changes there were. */
  writes = 0;
  private log: Change[] = [];
  /** The changes up to this one are forgotten. */
  private forgotten = 0;
  private readonly snapshots = new Map<string, Snapshot>();
  private isWaiting = false;
  /** When watchers were notified last. */
  private notifiedAtMs = 0;

  constructor(
    readonly type: ResourceType,
    private readonly nextRevision: () => number,
    private readonly revision: () => number,
  ) {}

  /** Stores an object without a change that watchers would see. */
  seed(object: Stored): void {
    this.objects.set(keyOf(object.metadata), object);
  }

  create(object: UnstructuredObject): Stored {
    const { metadata } = object;
    const created: Stored = {
      status: {},
      ...object,
      metadata: { ...metadata, uid: randomUUID(), creationTimestamp: toRfc3339(Date.now()), generation: 1 },
    };
    const stored = this.store(created, 'ADDED');
    if (this.type.resource === 'pods') setImmediate(() => this.makeReady(keyOf(metadata)));
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
    this.objects.delete(keyOf(object.metadata));
    return this.publish(object, 'DELETED');
  }

  /**
   * The first objects, or those from a token on, at most `limit` of them, all as they were when the list was begun. Undefined: a list of
   * that token is not known any more.
   */
  page(
    token: string | null,
    limit: number,
    isSelected: (object: Stored) => boolean = () => true,
  ): Page | undefined {
    const [name = '', first = '0'] = token?.split('.') ?? [];
    const snapshot = token === null ? this.snapshot(isSelected) : this.snapshots.get(name);
    if (!snapshot) return undefined;
    const { items, revision } = snapshot;
    const end = Number(first) + limit;
    const page = { revision, items: items.slice(Number(first), end) };
    if (end >= items.length) {
      this.snapshots.delete(name);
      return page;
    }
    const kept = token === null ? this.keep(snapshot) : name;
    return { ...page, next: `${kept}.${end}` };
  }

  /** Sends the changes after a revision, and those to come. */
  watch(after: number, shard: ObjectShard | undefined, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (after < this.forgotten) {
      this.watchers.write(response, EXPIRED);
      response.end();
      return;
    }
    // The log holds already what is still to be sent: a watcher that comes in between must not get it twice.
    this.flush();
    let text = '';
    for (let index = this.indexAfter(after); index < this.log.length; index++) {
      const { line, namespace } = this.log[index]!;
      if (shard?.includesValue(namespace) ?? true) text += line;
    }
    if (text !== '') this.watchers.write(response, text);
    this.watchers.add(shard, response);
  }

  bookmark(): void {
    this.flush();
    this.watchers.tellAll(this.bookmarkLine());
  }

  /** Ends one watch as servers do at its timeout: with a bookmark, so that the next one begins where this one ended. */
  endWatch(response: ServerResponse): void {
    if (response.destroyed || response.writableEnded) return;
    this.flush();
    this.watchers.write(response, this.bookmarkLine());
    response.end();
  }

  /** Makes all watchers list again, as after changes that the server has forgotten. */
  expire(): void {
    this.forgotten = this.nextRevision();
    this.log = [];
    this.watchers.tellAll(EXPIRED, { isLast: true });
  }

  /** A change by the server itself or by another client. */
  store(object: Stored, type: 'ADDED' | 'MODIFIED'): Stored {
    const stored = this.publish(object, type);
    this.objects.set(keyOf(object.metadata), stored);
    return stored;
  }

  private publish(object: Stored, type: string): Stored {
    const revision = this.nextRevision();
    this.writes++;
    const published = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const line = `${JSON.stringify({ type, object: published })}\n`;
    const { namespace = '' } = object.metadata;
    this.log.push({ revision, namespace, line });
    if (this.log.length > 2 * KEPT_CHANGES) {
      this.forgotten = this.log[KEPT_CHANGES - 1]!.revision;
      this.log = this.log.slice(KEPT_CHANGES);
    }
    this.watchers.push(namespace, line);
    if (!this.isWaiting) void this.flushSoon();
    return published;
  }

  private async flushSoon(): Promise<void> {
    this.isWaiting = true;
    await delay(Math.max(this.notifiedAtMs + WATCH_BATCH_MS - performance.now(), 0));
    this.flush();
  }

  private flush(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    this.notifiedAtMs = performance.now();
    this.watchers.flush();
  }

  private snapshot(isSelected: (object: Stored) => boolean): Snapshot {
    return { revision: this.revision(), items: [...this.objects.values()].filter(isSelected) };
  }

  private keep(snapshot: Snapshot): string {
    const name = randomUUID();
    this.snapshots.set(name, snapshot);
    for (const [oldest] of this.snapshots) {
      if (this.snapshots.size <= KEPT_SNAPSHOTS) break;
      this.snapshots.delete(oldest);
    }
    return name;
  }

  /** The index of the first change after a revision. */
  private indexAfter(revision: number): number {
    let [low, high] = [0, this.log.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.log[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private bookmarkLine(): string {
    const { kind } = this.type;
    const object = { kind, metadata: { resourceVersion: String(this.revision()) } };
    return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
  }

  private makeReady(key: string): void {
    const pod = this.objects.get(key) as unknown as Pod | undefined;
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

const EXPIRED = `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' } })}\n`;
