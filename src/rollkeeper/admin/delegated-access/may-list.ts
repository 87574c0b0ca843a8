import type { ApiClient } from '@rollkeeper/client/api-client';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { SelfSubjectAccessReview } from '@rollkeeper/machinery/kubernetes';
import { typeMeta } from '@rollkeeper/runtime';

/**
 * Whether the user of the client may list the objects of a type.
 * @param namespace empty: those of all namespaces
 * @throws what the API answers
 */
export async function mayList(
  client: Pick<ApiClient, 'create'>,
  { group, resource }: ResourceType,
  namespace: string,
): Promise<boolean> {
  const { status } = await client.create(SelfSubjectAccessReview, {
    ...typeMeta(SelfSubjectAccessReview),
    metadata: { name: '' },
    spec: { resourceAttributes: { namespace, verb: 'list', group, resource } },
  });
  return status?.allowed === true;
}
