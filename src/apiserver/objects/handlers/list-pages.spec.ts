import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { shardRangeOf, shardSelectorText } from '../../../machinery/kubernetes/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { parseSelection, parseShardSelector } from '../../kinds/selectors/index.js';
import { MemoryStorage } from '../../storage/index.js';
import type { StorageCursor } from '../../storage/index.js';
import type { RegistryContext } from '../registry/index.js';
import { listPages } from './list-pages.js';

const kind = createKindRegistry().kinds.find(({ type }) => type.resource === 'configmaps')!;

/** 300 objects in each of two namespaces, of whose shards `bank` is the second; one of each hundred is marked. */
async function filled() {
  const storage = new MemoryStorage({ clock: new FakeClock() });
  for (const namespace of ['bank', 'shop'])
    for (let index = 0; index < 300; index++) {
      const name = `c-${String(index).padStart(3, '0')}`;
      const labels: Record<string, string> = index % 100 === 99 ? { mark: 'yes' } : {};
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } };
      await storage.create({ resource: 'configmaps', namespace, name }, object);
    }
  let reads = 0;
  const counted = {
    list: (...args: Parameters<MemoryStorage['list']>) => {
      reads++;
      return storage.list(...args);
    },
  };
  const context = { storage: counted } as unknown as RegistryContext;
  /** All pages of a list with a limit, and how often the storage was read for each. */
  const readAll = async (query: Record<string, string>, limit: number) => {
    const parameters = new URLSearchParams(query);
    const selection = parseSelection(parameters, kind);
    const shard = parseShardSelector(parameters);
    const lists: { readonly names: readonly string[]; readonly reads: number }[] = [];
    let continueFrom: StorageCursor | undefined;
    do {
      reads = 0;
      const options = { limit, shard, ...(continueFrom && { continueFrom }) };
      const pages = listPages(context, { kind, namespace: '' }, selection, options);
      const names: string[] = [];
      continueFrom = undefined;
      for (let page = await pages.next(); page; page = await pages.next()) {
        names.push(...page.items.map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`));
        if (page.isLast) continueFrom = page.next;
      }
      lists.push({ names, reads });
    } while (continueFrom);
    return lists;
  };
  return { readAll };
}

describe('the pages of a list with a limit', () => {
  it('give each selected object once, and read the storage a few times however few are selected', async () => {
    const { readAll } = await filled();
    const lists = await readAll({ labelSelector: 'mark=yes' }, 2);
    const names = lists.flatMap((list) => list.names);
    expect(names).toEqual(
      ['bank', 'shop'].flatMap((namespace) =>
        ['099', '199', '299'].map((number) => `${namespace}/c-${number}`),
      ),
    );
    expect(lists.every((list) => list.names.length <= 2)).toBe(true);
    expect(Math.max(...lists.map(({ reads }) => reads))).toBeLessThanOrEqual(2);
  });

  it('do so of a shard as well', async () => {
    const { readAll } = await filled();
    const shardSelector = shardSelectorText('object.metadata.namespace', [shardRangeOf(0, 2)]);
    const lists = await readAll({ shardSelector }, 120);
    expect(lists.map(({ names }) => names.length)).toEqual([120, 120, 60]);
    expect(new Set(lists.flatMap(({ names }) => names)).size).toBe(300);
    expect(lists[0]!.names[0]).toBe('shop/c-000');
    expect(Math.max(...lists.map(({ reads }) => reads))).toBeLessThanOrEqual(2);
  });

  it('read no more than is wanted where everything is selected', async () => {
    const { readAll } = await filled();
    const lists = await readAll({}, 250);
    expect(lists.map(({ names, reads }) => [names.length, reads])).toEqual([
      [250, 1],
      [250, 1],
      [100, 1],
    ]);
  });
});
