import { ObjectShard } from '../../src/client/api-client/index.js';
import type { ShardRange } from '../../src/machinery/kubernetes/index.js';
import { parseLabelSelector } from '../../src/machinery/kubernetes/index.js';
import type { Stored } from './light-collection.js';

const RANGE = /shardRange\(object\.metadata\.namespace, '0x([0-9a-f]+)', '0x([0-9a-f]+)'\)/g;
const shards = new Map<string, ObjectShard>();

/** The shard of a `shardSelector` by namespaces; undefined without one. Each text is read once. */
export function shardOf(selector: string | null): ObjectShard | undefined {
  if (selector === null) return undefined;
  const known = shards.get(selector);
  if (known) return known;
  const ranges = [...selector.matchAll(RANGE)].map(([, start = '', end = '']): ShardRange => ({
    start: BigInt(`0x${start}`),
    end: BigInt(`0x${end}`),
  }));
  const shard = new ObjectShard('object.metadata.namespace', ranges);
  shards.set(selector, shard);
  return shard;
}

/** Whether a list has an object, by its namespace, its shard and its labels; undefined for another selection than these. */
export function selection(
  namespace: string | undefined,
  query: URLSearchParams,
): ((object: Stored) => boolean) | undefined {
  const shard = shardOf(query.get('shardSelector'));
  const text = query.get('labelSelector') ?? '';
  const hasLabels = text === '' ? () => true : parseLabelSelector(text);
  if (!hasLabels || query.has('fieldSelector')) return undefined;
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    (shard?.includes({ metadata }) ?? true) &&
    hasLabels(metadata.labels);
}
