import { decodeDeleteOptions } from '../decoding/index.js';
import { badRequest } from '../errors/index.js';
import { created } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import { deleteObject } from '../registry/index.js';
import type { PropagationPolicy, RegistryContext } from '../registry/index.js';
import { isDryRun } from './dry-run.js';
import type { ResourceCall } from './handler.js';

/** `POST` to a pod's `eviction`: a deletion, as there are no disruption budgets here. */
export async function handleEviction(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const text = (await call.request.readBody()).toString();
  const options = decodeDeleteOptions(Buffer.from(JSON.stringify(evictionOptions(text))), 'application/json');
  const dryRun = isDryRun(call.request.query, options.dryRun);
  const request = {
    ...options,
    propagationPolicy: options.propagationPolicy as PropagationPolicy | undefined,
  };
  await deleteObject(context, call, request, { dryRun });
  return created({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

function evictionOptions(text: string): object {
  try {
    return (JSON.parse(text) as { deleteOptions?: object }).deleteOptions ?? {};
  } catch (error) {
    throw badRequest(`Eviction in version "v1" cannot be handled as an Eviction: ${String(error)}`, error);
  }
}
