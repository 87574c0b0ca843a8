import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound, listAll } from '@rollkeeper/client/api-client';
import type { KubernetesObject, DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { DiagnoseOptions } from './diagnose-options.js';
import type { Need, Snapshot } from './snapshot.js';
import { CONTENT, ListedSnapshot, needKey } from './snapshot.js';

/** How many lists were read, by where they came from. */
export interface ListReads {
  readonly api: number;
  readonly caches: number;
}

/**
 * Reads the lists that diagnoses need, each once, with the caller's own rights. What the caller may not list is left
 * out and noted.
 */
export class ClusterReader {
  private readonly lists = new Map<string, Promise<readonly DeepReadonly<KubernetesObject>[] | undefined>>();
  private readonly refused = new Set<string>();

  private fromCaches = 0;
  private fromApi = 0;

  constructor(
    private readonly client: Pick<ApiClient, 'discover' | 'list'>,
    private readonly options: Pick<DiagnoseOptions, 'cached' | 'reader' | 'signal'> = {},
  ) {}

  /** The sources of the lists so far. */
  get reads(): ListReads {
    return { api: this.fromApi, caches: this.fromCaches };
  }

  /** @throws what the API answers, but for lists that are not served or not allowed */
  async snapshot(needs: readonly Need[]): Promise<Snapshot> {
    const lists = await Promise.all(
      needs.map(async (need) => [needKey(need), await this.read(need)] as const),
    );
    return new ListedSnapshot(
      new Map(lists.flatMap(([key, objects]) => (objects ? [[key, objects] as const] : []))),
    );
  }

  /** The things that were left out, for people. */
  notes(): readonly string[] {
    if (this.refused.size === 0) return [];
    const lists = [...this.refused].toSorted().join(', ');
    const { reader = 'You' } = this.options;
    return [`${reader} may not list ${lists}: problems that depend on them are not detected.`];
  }

  private read(need: Need): Promise<readonly DeepReadonly<KubernetesObject>[] | undefined> {
    const key = needKey(need);
    const all = this.lists.get(needKey({ type: need.type }));
    const known = this.lists.get(key) ?? this.readAnew(need, all);
    this.lists.set(key, known);
    return known;
  }

  /** A list of all namespaces that was read before also has this namespace. */
  private async readAnew(
    need: Need,
    all: Promise<readonly DeepReadonly<KubernetesObject>[] | undefined> | undefined,
  ): Promise<readonly DeepReadonly<KubernetesObject>[] | undefined> {
    const known = (await all) ?? this.cached(need);
    if (known)
      return known.filter(
        ({ metadata }) => need.namespace === undefined || metadata.namespace === need.namespace,
      );
    return need.type === CONTENT ? this.contentOf(need.namespace) : this.readable(need);
  }

  private cached({ type }: Need): readonly DeepReadonly<KubernetesObject>[] | undefined {
    const objects = type === CONTENT ? undefined : this.options.cached?.(type);
    if (objects) this.fromCaches += 1;
    return objects;
  }

  /** Every object of a namespace. What cannot be listed is left out, as the namespace controller says it itself. */
  private async contentOf(namespace: string | undefined): Promise<readonly DeepReadonly<KubernetesObject>[]> {
    const { signal } = this.options;
    const { resources } = await this.client.discover(signal && { signal });
    const types = resources.filter(
      ({ namespaced, resource, verbs }) =>
        namespaced && verbs.includes('list') && verbs.includes('delete') && resource !== 'events',
    );
    const lists = await Promise.all(
      types.map(async (type) => {
        const objects = await this.readable({ type, ...(namespace !== undefined && { namespace }) }, true);
        return (objects ?? []).map((object) => ({ ...object, kind: type.kind }));
      }),
    );
    return lists.flat();
  }

  private async readable(
    { namespace, type }: Need,
    metadataOnly = false,
  ): Promise<readonly DeepReadonly<KubernetesObject>[] | undefined> {
    const { signal } = this.options;
    this.fromApi += 1;
    try {
      return await listAll(this.client, type, {
        ...(namespace !== undefined && { namespace }),
        metadataOnly,
        ...(signal && { signal }),
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isForbidden(error)) throw error;
      this.refused.add(`${qualifiedResource(type)}${namespace === undefined ? '' : ` of ${namespace}`}`);
      return undefined;
    }
  }
}
