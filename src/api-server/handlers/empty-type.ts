import { EMPTY_TYPE } from '../discovery/index.js';
import { methodNotAllowed, notFound } from '../errors/index.js';
import { negotiate, ok } from '../http/index.js';
import type { ApiRequest, ApiResponse } from '../http/index.js';
import type { RegistryContext } from '../registry/index.js';

/** Reads of the type that has no objects; everything else is refused. */
export async function handleEmptyType(
  { storage }: RegistryContext,
  request: ApiRequest,
  name: string,
): Promise<ApiResponse> {
  if (request.method !== 'GET' || request.flag('watch')) throw methodNotAllowed();
  if (name !== '') throw notFound(EMPTY_TYPE, name);
  const metadata = { resourceVersion: String(await storage.currentRevision()) };
  if (negotiate(request.headers.accept).as === 'Table') {
    return ok({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions: [], rows: [] });
  }
  return ok({ kind: `${EMPTY_TYPE.kind}List`, apiVersion: EMPTY_TYPE.version, metadata, items: [] });
}
