import { ObjectShard } from '../api-client/index.js';
import type { ShardRange } from '@rollkeeper/machinery/kubernetes';

/** Several shards that are listed and watched as one. */
export interface JoinedShards {
  readonly shard: ObjectShard;
  /** The selectors of its shards. */
  readonly selectors: ReadonlySet<string>;
}

/** Beyond this number, all are joined to one: each costs a watch for every type. */
const MOST_GROUPS = 4;

/**
 * Joins shards, so that a type costs a few watches, however many shards there are. A group all of whose shards are still wanted stays
 * as it is, and its watch goes on. The remaining shards become a new group, which is listed. So shards that are added disturb no other,
 * and those that share a group with one that is left are listed again.
 */
export function joinShards(
  groups: readonly JoinedShards[],
  wanted: readonly ObjectShard[],
): readonly JoinedShards[] {
  const selectors = new Set(wanted.map(({ selector }) => selector));
  const kept = groups.filter((group) => [...group.selectors].every((each) => selectors.has(each)));
  const rest = wanted.filter(({ selector }) => !kept.some((group) => group.selectors.has(selector)));
  if (rest.length === 0) return kept;
  return kept.length < MOST_GROUPS ? [...kept, join(rest)] : [join(wanted)];
}

function join(shards: readonly ObjectShard[]): JoinedShards {
  const ranges = shards.flatMap((shard) => shard.ranges).toSorted((a, b) => (a.start < b.start ? -1 : 1));
  return {
    shard: new ObjectShard(shards[0]!.field, ranges.reduce(withRange, [])),
    selectors: new Set(shards.map(({ selector }) => selector)),
  };
}

/** Ranges that touch become one: the selector is a part of each request. */
function withRange(ranges: readonly ShardRange[], next: ShardRange): readonly ShardRange[] {
  const last = ranges.at(-1);
  return last?.end === next.start
    ? [...ranges.slice(0, -1), { start: last.start, end: next.end }]
    : [...ranges, next];
}
