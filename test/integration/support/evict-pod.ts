import { apiStatusOf } from '../../../src/client/api-client/api-status-error.js';
import type { ApiStatus } from '../../../src/client/api-client/api-status-error.js';
import { untyped, Pod } from '../../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../../src/testing/cluster/index.js';

/** Asks for the eviction of a pod of the namespace `default`. @returns the refusal; undefined: it is evicted */
export async function evictPod(
  { client }: Pick<TestCluster, 'client'>,
  name: string,
  { dryRun = [] }: { readonly dryRun?: readonly string[] } = {},
): Promise<ApiStatus | undefined> {
  const metadata = { name, namespace: 'default' };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { dryRun } };
  try {
    await client.create(untyped(Pod), eviction, { subresource: 'eviction' });
    return undefined;
  } catch (error) {
    return apiStatusOf(error);
  }
}
