import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../schema/errors/index.js';
import { createObject, storageKeyOf } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';

/**
 * Creates an object where there is none of its name.
 * @returns the one that was there before
 */
export async function ensureObject(
  context: RegistryContext,
  wanted: Readonly<UnstructuredObject>,
): Promise<UnstructuredObject | undefined> {
  const kind = context.kinds.findByKind(wanted.apiVersion, wanted.kind);
  if (!kind) return undefined;
  const { name, namespace = '' } = wanted.metadata;
  const key = storageKeyOf({ kind, namespace, name });
  const existing = await context.storage.get(key);
  if (existing) return existing.object;
  try {
    await createObject(context, { kind, namespace }, cloneJson(wanted), { dryRun: false });
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
    return (await context.storage.get(key))?.object;
  }
}
