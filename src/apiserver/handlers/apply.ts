import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../errors/index.js';
import type { ApiResponse } from '../http/index.js';
import type { Subresource } from '../kinds/index.js';
import { applyObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { isDryRun, callerOf } from './write-options.js';
import { applyManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { checkName, readObject } from './read-object.js';

/** `PATCH` with `application/apply-patch+yaml`: server-side apply of an object or of its status. */
export async function handleApply(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const manager = applyManagerOf(call);
  const { object: config, warnings } = await readObject(context, call, checkVersion);
  checkName(config, call.name);
  checkUnmanaged(config);
  const { caller, warned } = callerOf(call);
  const applied = await applyObject(context, call, config, {
    manager,
    caller,
    force: call.request.flag('force'),
    dryRun: isDryRun(call.request.query),
    subresource: call.subresource as Subresource,
  });
  return respondWithObject(context, call, applied, {
    status: applied.created ? 201 : 200,
    warnings: [...warnings, ...warned],
  });
}

function checkVersion(apiVersion: string | undefined, { kind }: ResourceCall): void {
  checkAppliedVersion(apiVersion, apiVersionOf(kind.type));
}

/** @throws StatusError 400: who owns fields is the server's to say */
export function checkUnmanaged({ metadata }: UnstructuredObject): void {
  if (metadata.managedFields) throw badRequest('metadata.managedFields must be nil');
}

/** @throws StatusError 400 */
export function checkAppliedVersion(apiVersion: string | undefined, expected: string): void {
  if (apiVersion === expected) return;
  throw badRequest(
    `Incorrect version specified in apply patch. Specified patch version: ${apiVersion ?? ''}, expected: ${expected}`,
  );
}
