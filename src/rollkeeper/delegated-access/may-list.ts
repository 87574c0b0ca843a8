import type { ApiClient } from '@rollkeeper/client/api-client';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { SELF_SUBJECT_ACCESS_REVIEWS } from './reviews.js';

interface Review extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

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
  const type = SELF_SUBJECT_ACCESS_REVIEWS;
  const { status } = await client.create<Review>(type, {
    ...{ apiVersion: apiVersionOf(type), kind: type.kind },
    metadata: { name: '' },
    spec: { resourceAttributes: { namespace, verb: 'list', group, resource } },
  });
  return status?.allowed === true;
}
