import { qualifiedResource } from '../../base/kubernetes/index.js';
import { WriteInterceptingClient } from './around-writes.js';
import type { ApiClient } from './api-client.js';

/** Told of the resourceVersion that a write made, under the type's `qualifiedResource`. */
export type RecordWrite = (qualifiedResource: string, resourceVersion: string) => void;

/**
 * `client`, telling `record` of every resourceVersion that a write brought back. A write of a subresource (status,
 * scale) counts for the type it belongs to; a deletion that left nothing behind has none.
 */
export function withOwnWrites(client: ApiClient, record: RecordWrite): ApiClient {
  return new WriteInterceptingClient(client, async (write, send) => {
    const object = await send();
    // What a binding answers is a Status, whose metadata has no resourceVersion.
    const resourceVersion = object?.metadata?.resourceVersion;
    if (resourceVersion) record(qualifiedResource(write.type), resourceVersion);
    return object;
  });
}
