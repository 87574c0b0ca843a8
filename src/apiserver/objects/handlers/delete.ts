import { ok } from '../../http/index.js';
import type { ApiResponse } from '../../http/index.js';
import { deleteObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { readDeleteOptions } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { callerOf } from './write-options.js';

/** `DELETE` of one object. Answers with a Status when the object was deleted, with the object when something still keeps it. */
export async function handleDelete(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const options = await readDeleteOptions(call.request, context.schemas);
  const { caller } = callerOf(call);
  const orphaning = call.kind.orphansByDefault?.warning;
  if (orphaning !== undefined && options.propagationPolicy === undefined) caller.warn(orphaning);
  const outcome = await deleteObject(context, call, options, { dryRun: options.dryRun, caller });
  const { type } = call.kind;
  // Source: DeleteResource in apiserver/pkg/endpoints/handlers/delete.go.
  const status = !outcome.removed && options.asksForDependents ? 202 : 200;
  if (!outcome.removed || call.kind.answersDeleted)
    return respondWithObject(context, call, outcome, { status });
  return ok({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: call.name,
      ...(type.group !== '' && { group: type.group }),
      kind: type.resource,
      uid: outcome.object.metadata.uid,
    },
  });
}
