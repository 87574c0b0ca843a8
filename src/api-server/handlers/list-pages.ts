import { qualifiedResource } from '../../base/kubernetes/index.js';
import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { expired } from '../errors/index.js';
import { storageKeyOf, translateStoreFailure } from '../registry/index.js';
import type { ObjectTarget, RegistryContext } from '../registry/index.js';
import type { Selection } from '../selectors/index.js';
import { StorageExpiredError } from '../storage/index.js';
import type { StorageCursor, StorageListOptions } from '../storage/index.js';
import type { ResourceCall } from './handler.js';

/** Objects, and characters of them, that are held in memory for one request at a time. */
const PAGE_OBJECTS = 500;
const PAGE_LENGTH = 1024 * 1024;
/** The first page is shorter: most lists are, and find room when longer ones have to wait for it. */
const FIRST_PAGE_LENGTH = 128 * 1024;
/** What a page takes: its objects, and the text that is made of them. */
export const PAGE_ROOM = 2 * PAGE_LENGTH;
export const FIRST_PAGE_ROOM = 2 * FIRST_PAGE_LENGTH;

/** Selected objects that were read together. */
export interface SelectedPage {
  readonly items: readonly UnstructuredObject[];
  readonly revision: number;
  /** Where the next page begins; absent behind the last object of the collection. */
  readonly next?: StorageCursor;
  /** How many objects are behind this page, selected or not. */
  readonly remaining: number;
  /** No further page is read. */
  readonly isLast: boolean;
}

export interface ListPagesOptions {
  /** At most so many selected objects. @default all */
  readonly limit?: number;
  readonly continueFrom?: StorageCursor;
}

/**
 * The selected objects of one state of a collection, page by page; there is always one. Whoever takes a page has let go
 * of the one before.
 * @throws StatusError
 */
export async function* listPages(
  context: RegistryContext,
  { kind, namespace }: Pick<ResourceCall, 'kind' | 'namespace'>,
  selection: Selection,
  { limit = 0, continueFrom }: ListPagesOptions,
): AsyncGenerator<SelectedPage, void, undefined> {
  if (selection.name && !continueFrom && (namespace !== '' || !kind.type.namespaced)) {
    yield await selectOne(context, { kind, namespace, name: selection.name }, selection);
    return;
  }
  const resource = qualifiedResource(kind.type);
  const scope = kind.type.namespaced && namespace !== '' ? { namespace } : {};
  let wanted = limit || Infinity;
  let cursor = continueFrom;
  let maxTextLength = FIRST_PAGE_LENGTH;
  for (;;) {
    const { items, next, remaining, revision } = await readPage(context, resource, {
      ...scope,
      limit: Math.min(wanted, PAGE_OBJECTS),
      maxTextLength,
      ...(cursor && { continueFrom: cursor }),
    });
    const selected = items
      .map(({ object }) => object as UnstructuredObject)
      .filter((object) => selection.all || selection.matches(object));
    wanted -= selected.length;
    cursor = next;
    maxTextLength = PAGE_LENGTH;
    const isLast = !next || wanted <= 0;
    yield { items: selected, revision, remaining, isLast, ...(next && { next }) };
    if (isLast) return;
  }
}

/**
 * The list that can have one object only, without reading the others. The state is asked for first: what is found
 * is as new or newer, and then its own version is one that nothing selected lies behind.
 */
async function selectOne(
  context: RegistryContext,
  target: ObjectTarget,
  selection: Selection,
): Promise<SelectedPage> {
  try {
    const revision = await context.storage.currentRevision();
    const stored = await context.storage.get(storageKeyOf(target));
    const object = stored?.object as UnstructuredObject | undefined;
    return {
      items: object && selection.matches(object) ? [object] : [],
      revision: Math.max(revision, stored?.revision ?? 0),
      remaining: 0,
      isLast: true,
    };
  } catch (error) {
    throw translateStoreFailure(error);
  }
}

async function readPage(context: RegistryContext, resource: string, options: StorageListOptions) {
  try {
    return await context.storage.list(resource, options);
  } catch (error) {
    if (error instanceof StorageExpiredError) {
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
      );
    }
    throw translateStoreFailure(error);
  }
}
