import type { Storage, StorageList, StorageListOptions } from './storage.js';

/** Default number of characters read together. */
const PAGE_LENGTH = 1024 * 1024;

/**
 * All objects of a resource, page by page: there may be more than fit into memory at once. The pages show one state.
 * @throws StorageExpiredError when other writes have made the store forget that state
 */
export async function* pagesOf(
  storage: Pick<Storage, 'list'>,
  resource: string,
  options: StorageListOptions = {},
): AsyncGenerator<StorageList, void> {
  let continueFrom = options.continueFrom;
  do {
    const page = await storage.list(resource, { maxTextLength: PAGE_LENGTH, ...options, continueFrom });
    yield page;
    continueFrom = page.next;
  } while (continueFrom);
}
