import type { KubernetesObject, ShardField, ShardRange } from '@rollkeeper/machinery/kubernetes';
import { isInShard, shardHash, shardSelectorText } from '@rollkeeper/machinery/kubernetes';
import { readMetadata } from './read-metadata.js';

/** The values whose answers are remembered. There are thousands of namespaces, and any number of UIDs. */
const REMEMBERED = 10_000;

/**
 * The objects of some ranges of the hash space (KEP-5866). A server that knows shards sends no others; one that does not sends all,
 * and the rest is left out here.
 */
export class ObjectShard {
  /** The query parameter, and the echo of a server that heeds it. */
  readonly selector: string;
  private readonly known = new Map<string, boolean>();

  /** @param ranges at least one: without any, a server would send everything */
  constructor(
    readonly field: ShardField,
    readonly ranges: readonly ShardRange[],
  ) {
    if (ranges.length === 0) throw new RangeError('a shard has at least one range');
    this.selector = shardSelectorText(field, ranges);
  }

  /** Whether an object whose field has this value is in the shard. */
  includesValue(value: string): boolean {
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const isIncluded = isInShard(shardHash(value), this.ranges);
    if (this.known.size >= REMEMBERED) this.known.clear();
    this.known.set(value, isIncluded);
    return isIncluded;
  }

  /** Whether an object is in the shard. */
  includes({
    metadata,
  }: {
    readonly metadata: Readonly<Pick<KubernetesObject['metadata'], 'namespace' | 'uid'>>;
  }): boolean {
    return this.includesValue((this.isByUid ? metadata.uid : metadata.namespace) ?? '');
  }

  /**
   * The lines of a watch without those about objects of other shards, most of which are not parsed. If the last line is left out, a
   * bookmark with its version takes its place: the watch has come so far.
   */
  linesOf(lines: readonly string[]): readonly string[] {
    let skipped: string | undefined;
    const kept = lines.filter((line) => {
      const metadata = readMetadata(line);
      const value = (this.isByUid ? metadata?.uid : metadata?.namespace) ?? '';
      const isKept = metadata === undefined || this.includesValue(value);
      skipped = isKept ? undefined : metadata.resourceVersion;
      return isKept;
    });
    return skipped === undefined ? kept : [...kept, bookmarkLine(skipped)];
  }

  private get isByUid(): boolean {
    return this.field === 'object.metadata.uid';
  }
}

function bookmarkLine(resourceVersion: string): string {
  return `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${resourceVersion}"}}}`;
}
