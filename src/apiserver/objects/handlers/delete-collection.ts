import { StatusError } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import { deleteObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { parseSelection, parseShardSelector } from '../../kinds/selectors/index.js';
import type { ObjectState } from '../../storage/index.js';
import { readDeleteOptions } from './delete-options.js';
import type { ReadDeleteOptions } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { shardInfoFor } from './list.js';
import { listPages } from './list-pages.js';
import type { PageSource, SelectedPage } from './list-pages.js';
import { respondWithList } from './list-response.js';
import { checkListOptions, parseLimit } from './list-options.js';
import { callerOf } from './write-options.js';

/** How many deletions are under way at once. */
const PARALLEL = 16;

/** `DELETE` of a collection: every selected object as if it were deleted alone; answers their list. */
export async function handleDeleteCollection(
  context: RegistryContext,
  call: ResourceCall,
): Promise<ApiResponse> {
  checkListOptions(call.request.query);
  const options = await readDeleteOptions(call.request, context.schemas);
  const selection = parseSelection(call.request.query, call.kind);
  const shard = parseShardSelector(call.request.query);
  const limit = parseLimit(call.request.query);
  const pages = deletedPages(context, call, listPages(context, call, selection, { limit, shard }), options);
  return respondWithList(context, call, pages, ({ revision }) => ({
    resourceVersion: String(revision),
    ...shardInfoFor(call, shard),
  }));
}

/** The pages with what became of their objects, which are deleted when the page is asked for. */
function deletedPages(
  context: RegistryContext,
  call: ResourceCall,
  pages: PageSource,
  options: ReadDeleteOptions,
): PageSource {
  const { kind } = call;
  const deleteAll = async (states: SelectedPage['items']): Promise<SelectedPage['items']> => {
    const waiting = states.values();
    const deleted: ObjectState[] = [];
    const work = async (): Promise<void> => {
      for (const {
        object: { metadata },
      } of waiting) {
        // The namespace of the request, not what the object says of itself.
        const target = { kind, namespace: call.namespace, name: metadata.name };
        const outcome = await deleteObject(context, target, options, {
          dryRun: options.dryRun,
          ...callerOf(call),
        }).catch(ignoreNotFound);
        if (outcome) deleted.push(outcome);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    return deleted;
  };
  return {
    async next() {
      const page = await pages.next();
      return page && { ...page, items: await deleteAll(page.items) };
    },
  };
}

/** Deleted by another client in the meantime, which is the wanted result. */
function ignoreNotFound(error: unknown): undefined {
  if (error instanceof StatusError && error.status.code === 404) return undefined;
  throw error;
}
