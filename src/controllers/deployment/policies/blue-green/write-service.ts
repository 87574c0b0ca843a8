import type { ApiClient } from '@rollkeeper/runtime';
import { Service } from '@rollkeeper/machinery/kubernetes';
import type { ServiceWrite } from '../common/service-write.js';

/**
 * Moves a selector, if the Service is still the one that the decision was made on.
 * @throws ApiStatusError Conflict if it has changed meanwhile: the next pass decides again
 */
export async function writeService(
  { name, namespace, patch }: ServiceWrite,
  { client, signal }: { readonly client: ApiClient; readonly signal: AbortSignal },
): Promise<void> {
  await client.patch(Service, { namespace, name }, { type: 'merge', body: patch }, { signal });
}
