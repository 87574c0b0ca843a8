import type { StreamEntry, StreamId } from './stream-entry.js';
import { compareIds } from './stream-entry.js';
import { StreamNode } from './stream-nodes.js';

/** A log of entries in the order of their ids. */
export class Stream {
  readonly type = 'stream';
  lastId: StreamId = { ms: 0, seq: 0 };
  private entries: StreamEntry[] = [];
  private nodes: { node: StreamNode; left: number }[] = [];

  get size(): number {
    return this.entries.length;
  }

  append(entry: StreamEntry): void {
    this.lastId = { ms: entry.ms, seq: entry.seq };
    this.entries.push(entry);
    let last = this.nodes.at(-1);
    if (!last?.node.hasRoomFor(entry)) this.nodes.push((last = { node: new StreamNode(entry), left: 0 }));
    last.node.add(entry);
    last.left += 1;
  }

  /** Entries from one id to another, both included. */
  range(from: StreamId, to: StreamId, count = Infinity): readonly StreamEntry[] {
    const start = this.firstPlace((entry) => compareIds(entry, from) >= 0);
    const end = this.firstPlace((entry) => compareIds(entry, to) > 0);
    return this.entries.slice(start, Math.max(start, Math.min(end, start + count)));
  }

  after(id: StreamId, count = Infinity): readonly StreamEntry[] {
    const start = this.firstPlace((entry) => compareIds(entry, id) > 0);
    return this.entries.slice(start, start + count);
  }

  delete(id: StreamId): boolean {
    const place = this.firstPlace((entry) => compareIds(entry, id) >= 0);
    const found = this.entries[place];
    if (!found || compareIds(found, id) !== 0) return false;
    this.entries.splice(place, 1);
    let passed = 0;
    for (const each of this.nodes) {
      passed += each.left;
      if (place >= passed) continue;
      each.left -= 1;
      break;
    }
    this.nodes = this.nodes.filter(({ left }) => left > 0);
    return true;
  }

  /**
   * Removes the oldest entries while there are more than `length`.
   * @param isApproximate whether only whole nodes are removed
   * @param limit the most entries removed, of an approximate trim
   */
  trimToLength(length: number, isApproximate: boolean, limit = Infinity): number {
    return this.trim(this.size - length, isApproximate, limit);
  }

  /** Removes the entries before an id. */
  trimBefore(id: StreamId, isApproximate: boolean, limit = Infinity): number {
    return this.trim(
      this.firstPlace((entry) => compareIds(entry, id) >= 0),
      isApproximate,
      limit,
    );
  }

  clone(): Stream {
    const copy = new Stream();
    copy.lastId = this.lastId;
    copy.entries = [...this.entries];
    copy.nodes = this.nodes.map(({ left, node }) => ({ left, node: node.clone() }));
    return copy;
  }

  private trim(count: number, isApproximate: boolean, limit: number): number {
    let left = Math.max(count, 0);
    let removed = 0;
    for (let first = this.nodes[0]; first && left > 0; first = this.nodes[0]) {
      if (isApproximate && removed + first.left > limit) break;
      if (first.left <= left) {
        left -= first.left;
        removed += first.left;
        this.nodes.shift();
      } else {
        if (isApproximate) break;
        first.left -= left;
        removed += left;
        left = 0;
      }
    }
    this.entries.splice(0, removed);
    return removed;
  }

  private firstPlace(holds: (entry: StreamEntry) => boolean): number {
    let [from, to] = [0, this.entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const entry = this.entries[middle];
      if (entry && holds(entry)) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}
