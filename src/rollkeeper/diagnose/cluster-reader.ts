import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Need, Snapshot } from './snapshot.js';
import { CONTENT, ListedSnapshot, needKey } from './snapshot.js';

/** Objects per page of a list. */
const PAGE = 500;

/**
 * Reads the lists that diagnoses need, each once, with the caller's own rights. What the caller may not list is left
 * out and noted.
 */
export class ClusterReader {
  private readonly reads = new Map<string, Promise<readonly KubernetesObject[] | undefined>>();
  private readonly refused = new Set<string>();

  constructor(
    private readonly client: Pick<ApiClient, 'discover' | 'list'>,
    private readonly signal?: AbortSignal,
  ) {}

  /** @throws what the API answers, but for lists that are not served or not allowed */
  async snapshot(needs: readonly Need[]): Promise<Snapshot> {
    const lists = await Promise.all(
      needs.map(async (need) => [needKey(need), await this.read(need)] as const),
    );
    return new ListedSnapshot(
      new Map(lists.flatMap(([key, objects]) => (objects ? [[key, objects] as const] : []))),
    );
  }

  /** What was left out, for people. */
  notes(): readonly string[] {
    if (this.refused.size === 0) return [];
    const lists = [...this.refused].toSorted().join(', ');
    return [`You may not list ${lists}: what depends on them is not seen.`];
  }

  private read(need: Need): Promise<readonly KubernetesObject[] | undefined> {
    const key = needKey(need);
    const all = this.reads.get(needKey({ type: need.type }));
    const known = this.reads.get(key) ?? this.readAnew(need, all);
    this.reads.set(key, known);
    return known;
  }

  /** A list of all namespaces that was read before also has this namespace. */
  private async readAnew(
    need: Need,
    all: Promise<readonly KubernetesObject[] | undefined> | undefined,
  ): Promise<readonly KubernetesObject[] | undefined> {
    const known = await all;
    if (known)
      return known.filter(
        ({ metadata }) => need.namespace === undefined || metadata.namespace === need.namespace,
      );
    return need.type === CONTENT ? this.contentOf(need.namespace) : this.listAll(need);
  }

  /** Every object of a namespace. What cannot be listed is left out, as the namespace controller says it itself. */
  private async contentOf(namespace: string | undefined): Promise<readonly KubernetesObject[]> {
    const { resources } = await this.client.discover(this.signal && { signal: this.signal });
    const types = resources.filter(
      ({ namespaced, resource, verbs }) =>
        namespaced && verbs.includes('list') && verbs.includes('delete') && resource !== 'events',
    );
    const lists = await Promise.all(
      types.map(async (type) => {
        const objects = await this.listAll({ type, ...(namespace !== undefined && { namespace }) }, true);
        return (objects ?? []).map((object) => ({ ...object, kind: type.kind }));
      }),
    );
    return lists.flat();
  }

  private async listAll(
    { namespace, type }: Need,
    metadataOnly = false,
  ): Promise<readonly KubernetesObject[] | undefined> {
    const items: KubernetesObject[] = [];
    let continueToken: string | undefined;
    try {
      do {
        const page = await this.client.list<KubernetesObject>(type, {
          ...(namespace !== undefined && { namespace }),
          limit: PAGE,
          metadataOnly,
          ...(continueToken !== undefined && { continueToken }),
          ...(this.signal && { signal: this.signal }),
        });
        items.push(...page.items);
        ({ continueToken } = page);
      } while (continueToken !== undefined);
      return items;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isForbidden(error)) throw error;
      this.refused.add(`${qualifiedResource(type)}${namespace === undefined ? '' : ` of ${namespace}`}`);
      return undefined;
    }
  }
}
