import type { UnstructuredObject } from '../../kubernetes/index.js';
import { cloneJson } from '../../kubernetes/index.js';
import { ok } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import type { Subresource } from '../kinds/index.js';
import { updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { presentObject } from '../table/index.js';
import { isDryRun } from './dry-run.js';
import { fieldManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';
import { checkName, readObject } from './read-object.js';

/** `PUT` of an object or of its status. */
export async function handleUpdate(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await readObject(context, call);
  checkName(object, call.name);
  const updated = await updateObject(context, call, () => cloneJson(object), {
    subresource: call.subresource as Subresource,
    manager: fieldManagerOf(call),
    dryRun: isDryRun(call.request.query),
  });
  return ok(presentObject(updated, call.kind, call, context.clock.now()), warnings);
}

/** `PUT /api/v1/namespaces/NAME/finalize`: nothing but `spec.finalizers` is taken. */
export async function handleFinalize(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await readObject(context, call);
  checkName(object, call.name);
  const finalizers = (object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
  const asked = object.metadata.resourceVersion;
  const updated = await updateObject(context, call, (current) => finalized(current, finalizers, asked), {
    subresource: 'finalize',
    manager: fieldManagerOf(call),
    dryRun: isDryRun(call.request.query),
  });
  return ok(presentObject(updated, call.kind, call, context.clock.now()), warnings);
}

function finalized(
  current: Readonly<UnstructuredObject>,
  finalizers: readonly string[],
  resourceVersion: string | undefined,
): UnstructuredObject {
  const candidate = cloneJson(current) as UnstructuredObject;
  candidate.spec = { ...(candidate.spec as object), finalizers: [...finalizers] };
  candidate.metadata.resourceVersion = resourceVersion;
  return candidate;
}
