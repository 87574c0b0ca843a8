import { apiVersionOf } from '../../base/kubernetes/index.js';
import { badRequest } from '../errors/index.js';
import { created, ok } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import type { Subresource } from '../kinds/index.js';
import { applyObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { presentObject } from '../table/index.js';
import { isDryRun } from './dry-run.js';
import { applyManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';
import { checkName, readObject } from './read-object.js';
import { callerOf } from './write-options.js';

/** `PATCH` with `application/apply-patch+yaml`: server-side apply of an object or of its status. */
export async function handleApply(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const manager = applyManagerOf(call);
  const { object: config, warnings } = await readObject(context, call, checkVersion);
  checkName(config, call.name);
  if (config.metadata.managedFields) throw badRequest('metadata.managedFields must be nil');
  const { caller, warned } = callerOf(call);
  const applied = await applyObject(context, call, config, {
    manager,
    caller,
    force: call.request.flag('force'),
    dryRun: isDryRun(call.request.query),
    subresource: call.subresource as Subresource,
  });
  const body = presentObject(applied.object, call.kind, call, context.clock.now());
  const told = [...warnings, ...warned];
  return applied.created ? created(body, told) : ok(body, told);
}

function checkVersion(apiVersion: string | undefined, { kind }: ResourceCall): void {
  const expected = apiVersionOf(kind.type);
  if (apiVersion === expected) return;
  throw badRequest(
    `Incorrect version specified in apply patch. Specified patch version: ${apiVersion ?? ''}, expected: ${expected}`,
  );
}
