import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, ListOptions } from './api-client.js';

/** Objects per page. */
const PAGE_SIZE = 500;

/** Every object of a type, read page by page. @throws what the API answers, also if the list has expired meanwhile */
export async function listAll<T extends KubernetesObject>(
  client: Pick<ApiClient, 'list'>,
  type: ResourceType,
  options: Omit<ListOptions, 'limit' | 'continueToken'> = {},
): Promise<readonly T[]> {
  const items: T[] = [];
  let continueToken: string | undefined;
  do {
    const page = await client.list<T>(type, {
      ...options,
      limit: PAGE_SIZE,
      ...(continueToken !== undefined && { continueToken }),
    });
    items.push(...page.items);
    ({ continueToken } = page);
  } while (continueToken !== undefined);
  return items;
}
