import { shardHash } from '@rollkeeper/machinery/kubernetes';
import type { ShardField } from '@rollkeeper/machinery/kubernetes';
import { shardHashOf } from '../../kinds/selectors/index.js';
import type { ShardSelector } from '../../kinds/selectors/index.js';
import { lengthOf, objectTextOf, originOf } from '../../storage/index.js';
import type { LogEntry, StorageEvent } from '../../storage/index.js';

/** How many events are kept for watchers that come to them a little later, and characters of their objects. */
const KEPT = 64;
const KEPT_LENGTH = 4 * 1024 * 1024;

/** An event of the store, shared by all its watchers. Its objects must not be changed. */
export class SharedEvent {
  private readonly lines = new Map<string, string>();
  private readonly bytes = new Map<string, Buffer>();
  private readonly hashes = new Map<ShardField, bigint>();

  constructor(readonly event: StorageEvent) {}

  /** The event with its own object as it goes over the wire, encoded when the first watcher needs it. */
  line(type: string): string {
    if (this.event.type === 'progress') throw new Error('the progress of a watch has no object');
    let line = this.lines.get(type);
    if (line === undefined) {
      line = `{"type":"${type}","object":${objectTextOf(this.event)}}\n`;
      this.lines.set(type, line);
    }
    return line;
  }

  /** The hash by which shards are selected. Nothing is parsed for that of a namespace. */
  shardHash(field: ShardField): bigint {
    const { event } = this;
    if (event.type === 'progress') throw new Error('the progress of a watch has no object');
    let hash = this.hashes.get(field);
    if (hash === undefined) {
      hash =
        field === 'object.metadata.namespace'
          ? shardHash(event.key.namespace)
          : shardHashOf(field, event.object);
      this.hashes.set(field, hash);
    }
    return hash;
  }

  /** The same as bytes, of which all its watchers send slices; for lines too long to be copied for each. */
  lineBytes(type: string): Buffer {
    let bytes = this.bytes.get(type);
    if (!bytes) this.bytes.set(type, (bytes = Buffer.from(this.line(type))));
    return bytes;
  }
}

/**
 * Lets the watchers of a process share their work: what happens is parsed and encoded once, not once for each of them.
 * They read the same end of the log at nearly the same time, so few events need to be kept.
 */
export class SharedEvents {
  private readonly recent = new Map<LogEntry, SharedEvent>();
  private length = 0;

  of(event: StorageEvent): SharedEvent {
    const origin = originOf(event);
    if (!origin) return new SharedEvent(event);
    const known = this.recent.get(origin);
    if (known) return known;
    const shared = new SharedEvent(event);
    this.recent.set(origin, shared);
    this.length += lengthOf(origin);
    this.makeRoom();
    return shared;
  }

  /**
   * The events of one shard, and what is no event of an object. An event is hashed once for the watchers of all shards. An
   * object never changes its shard, because its namespace and UID stay the same.
   */
  inShard(events: readonly StorageEvent[], shard: ShardSelector | undefined): readonly StorageEvent[] {
    if (!shard) return events;
    return events.filter(
      (event) => event.type === 'progress' || shard.includes(this.of(event).shardHash(shard.field)),
    );
  }

  /** The newest stays, however long it is: all watchers come to it now. */
  private makeRoom(): void {
    for (const entry of this.recent.keys()) {
      const isTooMuch = this.recent.size > KEPT || this.length > KEPT_LENGTH;
      if (!isTooMuch || this.recent.size === 1) return;
      this.recent.delete(entry);
      this.length -= lengthOf(entry);
    }
  }
}
