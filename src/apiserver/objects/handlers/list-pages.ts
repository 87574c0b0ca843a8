import { qualifiedResource, shardHash } from '@rollkeeper/machinery/kubernetes';
import { expired } from '../../schema/errors/index.js';
import { storageKeyOf, translateStoreFailure } from '../registry/index.js';
import type { ObjectTarget, RegistryContext } from '../registry/index.js';
import { shardHashOf } from '../../kinds/selectors/index.js';
import type { Selection, ShardSelector } from '../../kinds/selectors/index.js';
import { StorageExpiredError } from '../../storage/index.js';
import type {
  StoredObject,
  ObjectState,
  StorageCursor,
  StorageList,
  StorageListOptions,
} from '../../storage/index.js';
import type { ResourceCall } from './handler.js';

/** Objects, and characters of them, that are held in memory for one request at a time. */
const PAGE_OBJECTS = 500;
const PAGE_LENGTH = 1024 * 1024;
/** The first page is shorter: most lists are, and find room when longer ones have to wait for it. */
const FIRST_PAGE_LENGTH = 128 * 1024;
/** The room of a page: its objects, and the text that is made of them. */
export const PAGE_ROOM = 2 * PAGE_LENGTH;
export const FIRST_PAGE_ROOM = 2 * FIRST_PAGE_LENGTH;

/** Selected objects that were read together. */
export interface SelectedPage {
  readonly items: readonly ObjectState[];
  readonly revision: number;
  /** Start of the next page; absent after the last object of the collection. */
  readonly next?: StorageCursor;
  /** How many objects are behind this page, selected or not. */
  readonly remaining: number;
  /** No further page is read. */
  readonly isLast: boolean;
}

interface ListPagesOptions {
  /** The maximum number of selected objects. @default all */
  readonly limit?: number;
  /** @default the objects of all shards */
  readonly shard?: ShardSelector | undefined;
  readonly continueFrom?: StorageCursor;
  /** The refusal when the state of `continueFrom` no longer exists. @default an error that asks the client to list again */
  readonly onExpired?: () => Error;
}

/**
 * Pages one after another. Not a generator: a suspended one keeps its variables, and hundreds of requests may wait for
 * room between two pages, during which none may hold anything.
 */
export interface PageSource {
  /** `undefined` after the last page; there is always one. @throws StatusError */
  next(): Promise<SelectedPage | undefined>;
}

/** The selected objects of one state of a collection, page by page. */
export function listPages(
  context: RegistryContext,
  call: Pick<ResourceCall, 'kind' | 'namespace'>,
  selection: Selection,
  options: ListPagesOptions,
): PageSource {
  return new ListPages(context, call, selection, options);
}

class ListPages implements PageSource {
  private wanted: number;
  private cursor: StorageCursor | undefined;
  private readonly onExpired: () => Error;
  private maxTextLength = FIRST_PAGE_LENGTH;
  private isAtEnd = false;
  private readonly shard: ShardSelector | undefined;

  constructor(
    private readonly context: RegistryContext,
    private readonly call: Pick<ResourceCall, 'kind' | 'namespace'>,
    private readonly selection: Selection,
    { continueFrom, limit = 0, onExpired = expiredMeanwhile, shard }: ListPagesOptions,
  ) {
    this.wanted = limit || Infinity;
    this.cursor = continueFrom;
    this.onExpired = onExpired;
    this.shard = shard;
  }

  async next(): Promise<SelectedPage | undefined> {
    if (this.isAtEnd) return undefined;
    const page = (await this.readOnly()) ?? (await this.readSome());
    this.isAtEnd = page.isLast;
    return page;
  }

  private async readOnly(): Promise<SelectedPage | undefined> {
    const { kind, namespace } = this.call;
    const { name } = this.selection;
    if (!name || this.cursor || (namespace === '' && kind.type.namespaced)) return undefined;
    const page = await selectOne(this.context, { kind, namespace, name }, this.selection);
    return { ...page, items: inShard(page.items, this.shard) };
  }

  private async readSome(): Promise<SelectedPage> {
    const { kind, namespace } = this.call;
    const { items, next, remaining, revision } = await this.readPage(qualifiedResource(kind.type), {
      ...(kind.type.namespaced && namespace !== '' && { namespace }),
      // Few of those read may be selected: to read only as many as are wanted would be a read for each of the last ones.
      limit: this.isFiltered ? PAGE_OBJECTS : Math.min(this.wanted, PAGE_OBJECTS),
      maxTextLength: this.maxTextLength,
      ...(this.cursor && { continueFrom: this.cursor }),
    });
    const sharded = inShard(items, this.shard);
    const selected = this.selection.all
      ? sharded
      : sharded.filter(({ object }) => this.selection.matches(object));
    if (selected.length > this.wanted) return this.cutPage(selected.slice(0, this.wanted), revision);
    this.wanted -= selected.length;
    this.cursor = next;
    this.maxTextLength = PAGE_LENGTH;
    const isLast = !next || this.wanted <= 0;
    return { items: selected, revision, remaining, isLast, ...(next && { next }) };
  }

  /** The last page of a list with a limit, of which more had been read. A filtered list does not say how many objects remain. */
  private cutPage(items: readonly StoredObject[], revision: number): SelectedPage {
    const last = items.at(-1);
    const { name = '', namespace = '' } = last?.key ?? last?.object.metadata ?? {};
    return { items, revision, remaining: 0, isLast: true, next: { revision, namespace, name } };
  }

  private get isFiltered(): boolean {
    return !this.selection.all || this.shard !== undefined;
  }

  private async readPage(resource: string, options: StorageListOptions): Promise<StorageList> {
    try {
      return await this.context.storage.list(resource, options);
    } catch (error) {
      throw error instanceof StorageExpiredError ? this.onExpired() : translateStoreFailure(error);
    }
  }
}

/** The objects of a shard. They lie one namespace after the other, and none is parsed for its namespace. */
function inShard(items: readonly StoredObject[], shard: ShardSelector | undefined): readonly StoredObject[] {
  if (!shard) return items;
  const { field } = shard;
  if (field !== 'object.metadata.namespace')
    return items.filter(({ object }) => shard.includes(shardHashOf(field, object)));
  let last: { readonly namespace: string; readonly isIncluded: boolean } | undefined;
  return items.filter((item) => {
    const namespace = item.key?.namespace ?? item.object.metadata.namespace ?? '';
    if (last?.namespace !== namespace) last = { namespace, isIncluded: shard.includes(shardHash(namespace)) };
    return last.isIncluded;
  });
}

/**
 * The list that can have one object only, without reading the others. The state is asked for first: what is found
 * is as new or newer, and then its own version is one that nothing selected lies behind.
 */
async function selectOne(
  context: RegistryContext,
  target: ObjectTarget,
  selection: Selection,
): Promise<SelectedPage & { readonly items: readonly StoredObject[] }> {
  try {
    const revision = await context.storage.currentRevision();
    const stored = await context.storage.get(storageKeyOf(target));
    return {
      items: stored && selection.matches(stored.object) ? [stored] : [],
      revision: Math.max(revision, stored?.revision ?? 0),
      remaining: 0,
      isLast: true,
    };
  } catch (error) {
    throw translateStoreFailure(error);
  }
}

function expiredMeanwhile(): Error {
  return expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
  );
}
