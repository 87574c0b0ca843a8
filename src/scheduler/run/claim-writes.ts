import type { ApiClient } from '@rollkeeper/runtime';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { ResourceClaim } from '../plugins/dynamic-resources/resource-api.js';

/** Keeps an allocated claim from going before its devices are free. */
const PROTECTION = 'resource.kubernetes.io/delete-protection';

/** Nothing keeps the claim after that. */
export async function deleteClaim(
  client: ApiClient,
  type: ResourceType,
  { metadata: { finalizers = [], name, namespace, uid } }: KubernetesObject,
  signal: AbortSignal,
): Promise<void> {
  if (finalizers.includes(PROTECTION)) {
    const kept = finalizers.filter((each) => each !== PROTECTION);
    const body = { metadata: { uid, finalizers: kept } };
    await client.patch(type, { namespace, name }, { type: 'merge', body }, { signal });
  }
  await client.delete(type, { namespace, name }, { preconditions: { uid }, signal });
}

/** Writes allocation and consumers. @returns the claim as it is then */
export async function writeAllocated(
  client: ApiClient,
  type: ResourceType,
  claim: ResourceClaim,
  signal: AbortSignal,
): Promise<ResourceClaim> {
  const kept = await withProtection(client, type, claim, signal);
  return client.update<ResourceClaim>(type, kept, { subresource: 'status', signal });
}

async function withProtection(
  client: ApiClient,
  type: ResourceType,
  claim: ResourceClaim,
  signal: AbortSignal,
): Promise<ResourceClaim> {
  const { finalizers = [] } = claim.metadata;
  if (finalizers.includes(PROTECTION)) return claim;
  const metadata = { ...claim.metadata, finalizers: [...finalizers, PROTECTION] };
  const written = await client.update<ResourceClaim>(type, { ...claim, metadata }, { signal });
  return { ...written, status: claim.status };
}
