import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';

/** A list that a diagnosis looks at. */
export interface Need {
  readonly type: ResourceType;
  /** Absent: all namespaces, or a cluster-scoped type. */
  readonly namespace?: string;
}

/** In place of a type: every object of a namespace, its metadata alone. */
export const CONTENT: ResourceType = {
  group: '',
  version: '',
  resource: '*',
  kind: '*',
  namespaced: true,
};

/** Objects as they were read at one time. */
export interface Snapshot {
  /** Empty also where the type is not served, or may not be listed: see {@link isKnown}. */
  list<T extends KubernetesObject>(type: ResourceType, namespace?: string): readonly DeepReadonly<T>[];
  /** Whether the list could be read, so that an absent object is really absent. */
  isKnown(type: ResourceType, namespace?: string): boolean;
}

/** Identifies a list. */
export function needKey({ namespace = '', type }: Need): string {
  return `${type.group}/${type.resource}|${namespace}`;
}

/** A snapshot of lists by {@link needKey}. A list of all namespaces serves for each of them. */
export class ListedSnapshot implements Snapshot {
  constructor(private readonly lists: ReadonlyMap<string, readonly KubernetesObject[]>) {}

  list<T extends KubernetesObject>(type: ResourceType, namespace?: string): readonly DeepReadonly<T>[] {
    const own = this.lists.get(needKey({ type, ...(namespace !== undefined && { namespace }) }));
    if (own) return own as readonly DeepReadonly<T>[];
    const all = (this.lists.get(needKey({ type })) ?? []) as readonly DeepReadonly<T>[];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  isKnown(type: ResourceType, namespace?: string): boolean {
    const keys = [needKey({ type }), needKey({ type, ...(namespace !== undefined && { namespace }) })];
    return keys.some((key) => this.lists.has(key));
  }
}
