import { LongWork } from '@rollkeeper/machinery/clock';
import { checkWriteOptions, decodeApplied } from '../../http/decoding/index.js';
import { badRequest } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import { applyObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { callerOf, changedPartOf, isDryRun } from './write-options.js';
import { applyManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { checkPatchedIdentity } from './read-object.js';

/** `PATCH` with `application/apply-patch+yaml`: server-side apply of an object or of its status. */
export async function handleApply(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const manager = applyManagerOf(call);
  const { kind, request } = call;
  const fieldValidation = checkWriteOptions(request);
  const body = await request.readBody();
  const { complete, config } = await decodeApplied(body, {
    ...{ schemas: context.schemas, schema: kind.schema, kind: kind.type, fieldValidation },
    work: new LongWork(context.clock),
    conversionProblem: (object) => kind.conversionProblem?.(object),
  });
  const { caller } = callerOf(call);
  const applied = await applyObject(context, call, config, {
    manager,
    caller,
    force: call.request.flag('force'),
    dryRun: isDryRun(call.request.query),
    subresource: changedPartOf(call),
    complete: (merged) => {
      const { object, warnings } = complete(merged);
      object.metadata.name ||= call.name;
      checkPatchedIdentity(object, call);
      for (const warning of warnings) request.warn(warning);
      return object;
    },
  });
  return respondWithObject(context, call, applied, {
    status: applied.created ? 201 : 200,
  });
}

/** @throws StatusError 400 */
export function checkAppliedVersion(apiVersion: unknown, expected: string): void {
  if (apiVersion === expected) return;
  // A value that is no text counts as absent, and may have no form as a text at all.
  const specified = typeof apiVersion === 'string' ? apiVersion : '';
  throw badRequest(
    `Incorrect version specified in apply patch. Specified patch version: ${specified}, expected: ${expected}`,
  );
}
