import type { StreamEntry } from './stream-entry.js';

const MOST_ENTRIES = 100;
const MOST_BYTES = 4096;
const HEADER_BYTES = 7;

/**
 * A node of a stream, as Redis stores it: entries that are trimmed together where a length is approximate. Sizes are those of its
 * listpacks. Source: t_stream.c and listpack.c of Redis.
 */
export class StreamNode {
  count = 0;
  private bytes = HEADER_BYTES;
  private readonly fields: readonly string[];
  private readonly first: StreamEntry;

  constructor(first: StreamEntry) {
    this.first = first;
    this.fields = first.fields.filter((_, index) => index % 2 === 0);
    // Count, deleted entries, number of fields, their names, and an end.
    this.bytes += 3 * sizeOf('1') + this.fields.reduce((sum, field) => sum + sizeOf(field), 0) + sizeOf('0');
  }

  hasRoomFor(entry: StreamEntry): boolean {
    const added = entry.fields.reduce((sum, text) => sum + text.length, 0);
    return this.count < MOST_ENTRIES && this.bytes + added < MOST_BYTES;
  }

  add(entry: StreamEntry): void {
    const { fields } = entry;
    const names = fields.filter((_, index) => index % 2 === 0);
    const isSame =
      names.length === this.fields.length && names.every((name, index) => name === this.fields[index]);
    const stored = isSame ? fields.filter((_, index) => index % 2 === 1) : [String(names.length), ...fields];
    const texts = [
      isSame ? '2' : '0',
      String(entry.ms - this.first.ms),
      String(entry.seq - this.first.seq),
      ...stored,
    ];
    this.bytes += texts.reduce((sum, text) => sum + sizeOf(text), 0) + sizeOf(String(stored.length + 3));
    this.count += 1;
  }

  clone(): StreamNode {
    const copy = new StreamNode(this.first);
    copy.count = this.count;
    copy.bytes = this.bytes;
    return copy;
  }
}

const INTEGER_SIZES: readonly (readonly [limit: bigint, bytes: number])[] = [
  [2n ** 12n, 2],
  [2n ** 15n, 3],
  [2n ** 23n, 4],
  [2n ** 31n, 5],
];

/** Bytes of a text in a listpack. */
function sizeOf(text: string): number {
  const content = contentSize(text);
  return content + backLength(content);
}

function contentSize(text: string): number {
  if (text.length <= 20 && /^(?:0|-?[1-9]\d*)$/.test(text)) {
    const value = BigInt(text);
    if (value >= 0n && value < 128n) return 1;
    for (const [limit, bytes] of INTEGER_SIZES) if (value >= -limit && value < limit) return bytes;
    if (value >= -(2n ** 63n) && value < 2n ** 63n) return 9;
  }
  if (text.length < 64) return 1 + text.length;
  return text.length < 4096 ? 2 + text.length : 5 + text.length;
}

function backLength(size: number): number {
  if (size <= 127) return 1;
  if (size < 16_383) return 2;
  return size < 2_097_151 ? 3 : 4;
}
