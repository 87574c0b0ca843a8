/** The number of hashes: one beyond the greatest. */
export const SHARD_HASHES = 2n ** 64n;

/** Hashes from `start` up to, and without, `end`; both in 0 to 2^64. */
export interface ShardRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** The paths whose value may be hashed. */
export type ShardField = 'object.metadata.namespace' | 'object.metadata.uid';

const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
/** The prime is 2^40 + 0x1b3. */
const PRIME_LOW = 0x1b3;
const HALF = 2 ** 32;

/**
 * FNV-1a with 64 bits over the UTF-8 of a text, as `k8s.io/apimachinery/pkg/sharding` hashes the field of an object
 * for `shardSelector`.
 */
export function shardHash(text: string): bigint {
  let high = OFFSET_HIGH;
  let low = OFFSET_LOW;
  for (const byte of ENCODER.encode(text)) {
    low = (low ^ byte) >>> 0;
    // Both products have fewer than 53 bits.
    const product = low * PRIME_LOW;
    high = (high * PRIME_LOW + Math.floor(product / HALF) + low * 256) % HALF;
    low = product % HALF;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

const ENCODER = new TextEncoder();

/** Whether a hash is in one of the ranges. */
export function isInShard(hash: bigint, ranges: readonly ShardRange[]): boolean {
  return ranges.some(({ start, end }) => start <= hash && hash < end);
}

/** The `shardSelector` of the ranges, in the form in which a server echoes it; empty without a range. */
export function shardSelectorText(field: ShardField, ranges: readonly ShardRange[]): string {
  return ranges
    .map(({ start, end }) => `shardRange(${field}, '${hexOf(start)}', '${hexOf(end)}')`)
    .join(' || ');
}

/** The `index`-th of `count` ranges of nearly the same length that make up all hashes; `index` begins with 0. */
export function shardRangeOf(index: number, count: number): ShardRange {
  const width = SHARD_HASHES / BigInt(count);
  const start = width * BigInt(index);
  return { start, end: index === count - 1 ? SHARD_HASHES : start + width };
}

/** The index of the range, of `count` such ranges, that has the hash. */
export function shardIndexOf(hash: bigint, count: number): number {
  return Math.min(count - 1, Number(hash / (SHARD_HASHES / BigInt(count))));
}

function hexOf(hash: bigint): string {
  return `0x${hash.toString(16).padStart(16, '0')}`;
}
