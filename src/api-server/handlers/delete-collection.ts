import { apiVersionOf } from '../../kubernetes/index.js';
import type { UnstructuredObject } from '../../kubernetes/index.js';
import { StatusError } from '../errors/index.js';
import { ok } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import { deleteObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { parseSelection } from '../selectors/index.js';
import { presentList } from '../table/index.js';
import { readDeleteOptions } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { parseNumber, selectPage } from './list.js';

/** How many deletions are under way at once. */
const PARALLEL = 16;

/** `DELETE` of a collection: every selected object as if it were deleted alone; answers their list. */
export async function handleDeleteCollection(
  context: RegistryContext,
  call: ResourceCall,
): Promise<ApiResponse> {
  const options = await readDeleteOptions(call.request, context.schemas);
  const selection = parseSelection(call.request.query, call.kind);
  const limit = parseNumber(call.request.query, 'limit');
  const page = await selectPage(context, call, selection, { limit });
  const waiting = [...page.items];
  const deleted: UnstructuredObject[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { namespace = '', name } = next.metadata;
      const outcome = await deleteObject(
        context,
        { kind: call.kind, namespace, name },
        options,
        options,
      ).catch(ignoreNotFound);
      if (outcome) deleted.push(outcome.object);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  const list = {
    kind: `${call.kind.type.kind}List`,
    apiVersion: apiVersionOf(call.kind.type),
    metadata: { resourceVersion: String(page.revision) },
    items: deleted,
  };
  return ok(presentList(list, call.kind, call, context.clock.now()));
}

/** Somebody else deleted it meanwhile: what was wanted has come true. */
function ignoreNotFound(error: unknown): undefined {
  if (error instanceof StatusError && error.status.code === 404) return undefined;
  throw error;
}
