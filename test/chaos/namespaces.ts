import type { ApiClient } from '../../src/client/api-client/index.js';
import { isAlreadyExists } from '../../src/client/api-client/index.js';
import { Namespace, shardHash } from '../../src/machinery/kubernetes/index.js';

export const LOAD_NAMESPACE = 'default';
const ONE: readonly string[] = [LOAD_NAMESPACE];
/** Few, because each is asked about while everything comes to rest, and enough that every replica owns some of them. */
const SPREAD = 8;

/**
 * The namespaces of the load. With slots there are several, so that several replicas have work: their names differ at the beginning, because
 * the hash of names that differ in the last letters is almost the same (docs/SCALE.md).
 */
export function namespacesOf(slots: number): readonly string[] {
  if (slots === 0) return ONE;
  return Array.from({ length: SPREAD }, (_, index) => `n${shardHash(String(index)).toString(36)}`);
}

/** The namespace of the load's object with this index. */
export function namespaceAt(namespaces: readonly string[], index: number): string {
  return namespaces[index % namespaces.length] ?? LOAD_NAMESPACE;
}

export async function createNamespaces(client: ApiClient, names: readonly string[]): Promise<void> {
  for (const name of names)
    await client
      .create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
}

/** Returns the sentences that `find` gives for all the namespaces. */
export async function inEach(
  namespaces: readonly string[],
  find: (namespace: string) => Promise<string[]>,
): Promise<string[]> {
  return (await Promise.all(namespaces.map(find))).flat();
}
