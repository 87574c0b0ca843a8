import type { ApiClient } from '@rollkeeper/client/api-client';
import { listAll } from '@rollkeeper/client/api-client';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';

/** One object of a list. */
interface ListedObject {
  readonly namespace?: string;
  readonly name: string;
  /** RFC 3339. */
  readonly created?: string;
  readonly deleting?: boolean;
}

export interface ObjectList {
  /** The objects that match, as many as are shown. */
  readonly items: readonly ListedObject[];
  /** How many match. */
  readonly matching: number;
  /** How many there are. */
  readonly total: number;
}

/** Text that has to be in `namespace/name` or in a label, and the namespace. */
interface ObjectFilter {
  readonly namespace?: string;
  readonly find?: string;
}

const MOST = 500;

/** The objects of a type, by namespace and name. @throws what the API answers */
export async function listObjects(
  client: Pick<ApiClient, 'list'>,
  type: ResourceType,
  { find = '', namespace }: ObjectFilter,
): Promise<ObjectList> {
  const all = await listAll<KubernetesObject>(client, type, {
    ...(namespace !== undefined && { namespace }),
    metadataOnly: true,
  });
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = all
    .filter((object) => words.every((word) => textOf(object).includes(word)))
    .toSorted((a, b) => keyOf(a.metadata).localeCompare(keyOf(b.metadata), 'en', { numeric: true }));
  return {
    items: matching.slice(0, MOST).map(listed),
    matching: matching.length,
    total: all.length,
  };
}

function textOf({ metadata }: KubernetesObject): string {
  const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return [keyOf(metadata), ...labels].join('\n').toLowerCase();
}

function listed({ metadata }: KubernetesObject): ListedObject {
  const { creationTimestamp, deletionTimestamp, name, namespace } = metadata;
  return {
    ...(namespace !== undefined && { namespace }),
    name,
    ...(creationTimestamp !== undefined && { created: creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deleting: true }),
  };
}
