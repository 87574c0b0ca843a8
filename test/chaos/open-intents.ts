import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { ConfigMap } from '../../src/machinery/kubernetes/index.js';
import type { ChaosSet } from './set/chaos-set.js';

interface StoredIntents {
  readonly creates?: readonly string[];
}

const ACTORS = '*:actor:replicaset:*';
const LEDGER = /-intents-\d+$/;

/** At rest, every creation was answered or looked up: the creations that are still stored as open, in words. */
export async function findOpenIntents(set: ChaosSet): Promise<string[]> {
  const stored = set.coordination === 'leases' ? await inLedger(set) : await inRedis(set);
  return stored.flatMap(([key, intents]) => {
    const { creates = [] } = JSON.parse(intents) as StoredIntents;
    return creates.length === 0 ? [] : [`${key} still means to create ${creates.join(', ')}`];
  });
}

async function inRedis({ redis }: ChaosSet): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const server of 'nodes' in redis ? redis.nodes('master') : [redis]) {
    let cursor = '0';
    do {
      const [next, keys] = await server.scan(cursor, 'MATCH', ACTORS, 'COUNT', 1000);
      cursor = next;
      for (const key of keys) {
        const intents = await server.hget(key, 'intents');
        if (intents) found.push([key, intents]);
      }
    } while (cursor !== '0');
  }
  return found;
}

async function inLedger({ client }: ChaosSet): Promise<[string, string][]> {
  const { items } = await client.list<KubernetesObject & { data?: Record<string, string> }>(ConfigMap);
  return items
    .filter(({ metadata }) => LEDGER.test(metadata.name))
    .flatMap(({ data }) => Object.entries(JSON.parse(data?.['intents'] ?? '{}') as Record<string, unknown>))
    .map(([key, intents]): [string, string] => [key, JSON.stringify(intents)]);
}
