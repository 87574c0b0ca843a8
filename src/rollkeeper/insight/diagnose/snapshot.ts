import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';

type Readable = DeepReadonly<KubernetesObject>;

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
  /** The objects of a type, in the namespace of an object, that it controls. */
  controlledBy<T extends KubernetesObject>(
    type: ResourceType,
    owner: DeepReadonly<KubernetesObject>,
  ): readonly DeepReadonly<T>[];
  /** Whether the list could be read, so that an absent object is really absent. */
  isKnown(type: ResourceType, namespace?: string): boolean;
}

/** Identifies a list. */
export function needKey({ namespace = '', type }: Need): string {
  return `${type.group}/${type.resource}|${namespace}`;
}

/** A snapshot of lists by {@link needKey}. A list of all namespaces serves for each of them. */
export class ListedSnapshot implements Snapshot {
  private readonly byNamespace = new Map<string, ReadonlyMap<string, readonly Readable[]>>();
  private readonly byController = new Map<string, ReadonlyMap<string, readonly Readable[]>>();

  constructor(private readonly lists: ReadonlyMap<string, readonly Readable[]>) {}

  list<T extends KubernetesObject>(type: ResourceType, namespace?: string): readonly DeepReadonly<T>[] {
    const own = this.lists.get(needKey({ type, ...(namespace !== undefined && { namespace }) }));
    return ofType<T>(own ?? this.namespacesOf(type).get(namespace ?? ''));
  }

  controlledBy<T extends KubernetesObject>(
    type: ResourceType,
    { metadata }: DeepReadonly<KubernetesObject>,
  ): readonly DeepReadonly<T>[] {
    const { namespace = '', uid = '' } = metadata;
    const key = needKey({ type, namespace });
    const grouped = this.byController.get(key) ?? groupByController(this.list(type, namespace));
    this.byController.set(key, grouped);
    return ofType<T>(grouped.get(uid));
  }

  isKnown(type: ResourceType, namespace?: string): boolean {
    const keys = [needKey({ type }), needKey({ type, ...(namespace !== undefined && { namespace }) })];
    return keys.some((key) => this.lists.has(key));
  }

  /** Grouped once: a look at a whole cluster asks for the pods of each of its namespaces again and again. */
  private namespacesOf(type: ResourceType): ReadonlyMap<string, readonly Readable[]> {
    const key = needKey({ type });
    const grouped =
      this.byNamespace.get(key) ??
      Map.groupBy(this.lists.get(key) ?? [], ({ metadata }) => metadata.namespace ?? '');
    this.byNamespace.set(key, grouped);
    return grouped;
  }
}

/** The objects of a list, as the type that the caller of a snapshot names. */
function ofType<T>(objects: readonly Readable[] = []): readonly DeepReadonly<T>[] {
  return objects as readonly DeepReadonly<T>[];
}

function groupByController(
  objects: readonly DeepReadonly<KubernetesObject>[],
): ReadonlyMap<string, readonly Readable[]> {
  const owned = Map.groupBy(objects, (object) => controllerOf(object)?.uid ?? '');
  owned.delete('');
  return owned;
}
