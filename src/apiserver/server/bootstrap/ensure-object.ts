import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../schema/errors/index.js';
import { createObject, storageKeyOf } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';

/**
 * Makes a write of the server itself. Policies and webhooks that refuse it do not keep the server from starting, as they cannot be taken
 * away where it does not run.
 * @returns undefined where the write was refused, which is logged
 */
export async function unlessRefused<T>(
  { logger }: RegistryContext,
  { kind, metadata }: Readonly<UnstructuredObject>,
  write: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { name, namespace } = metadata;
    const facts = { kind, name, ...(namespace && { namespace }), error: errorMessage(error) };
    logger.warn('an object of the API server itself was refused, and stays as it is', facts);
    return undefined;
  }
}

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
