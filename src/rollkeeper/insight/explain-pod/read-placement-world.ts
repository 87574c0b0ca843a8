import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound, listAll } from '@rollkeeper/client/api-client';
import { Node, Pod, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { servedResources } from '@rollkeeper/scheduler';
import type { ClusterView, ViewedResource } from '@rollkeeper/scheduler';

interface ReadWorld {
  readonly pod: Pod;
  /** Undefined without the right to list nodes. */
  readonly nodes: readonly Node[] | undefined;
  readonly pods: readonly Pod[];
  readonly view: ClusterView;
  /** The things that could not be read, and what follows of that. */
  readonly notes: readonly string[];
}

/** Reads what a placement depends on, as far as the caller may. @throws ApiStatusError if the pod itself cannot be read */
export async function readPlacementWorld(client: ApiClient, ref: Required<ObjectRef>): Promise<ReadWorld> {
  const pod = await client.get<Pod>(Pod, ref);
  const notes: string[] = [];
  const nodes = await unlessForbidden(() => listAll<Node>(client, Node));
  if (!nodes) return { pod, nodes, pods: [], view: new ReadView(new Map()), notes };
  const [pods, objects] = await Promise.all([
    podsOf(client, ref.namespace, notes),
    viewedObjects(client, notes),
  ]);
  return { pod, nodes, pods, view: new ReadView(objects), notes };
}

async function podsOf(client: ApiClient, namespace: string, notes: string[]): Promise<readonly Pod[]> {
  const all = await unlessForbidden(() => listAll<Pod>(client, Pod));
  if (all) return all;
  notes.push(
    `You may not list the pods of other namespaces: nodes may be fuller than they look, and affinity to those pods is not seen.`,
  );
  return (await unlessForbidden(() => listAll<Pod>(client, Pod, { namespace }))) ?? [];
}

type Objects = ReadonlyMap<ViewedResource, readonly KubernetesObject[]>;

async function viewedObjects(client: ApiClient, notes: string[]): Promise<Objects> {
  const served = servedResources(await client.discover());
  const read = await Promise.all(
    [...served].map(async ([name, type]) => {
      const objects = await unlessForbidden(() => listAll<KubernetesObject>(client, type));
      return { name, objects };
    }),
  );
  const unseen = read.filter(({ objects }) => !objects).map(({ name }) => name);
  if (unseen.length > 0) notes.push(`You may not list ${unseen.join(', ')}: they are taken not to be there.`);
  return new Map(read.map(({ name, objects }) => [name, objects ?? []]));
}

async function unlessForbidden<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

class ReadView implements ClusterView {
  constructor(private readonly objects: Objects) {}

  get<T extends KubernetesObject>(resource: ViewedResource, ref: ObjectRef): DeepReadonly<T> | undefined {
    return this.list<T>(resource).find(({ metadata }) => keyOf(metadata) === keyOf(ref));
  }

  list<T extends KubernetesObject>(resource: ViewedResource, namespace?: string): readonly DeepReadonly<T>[] {
    const all = (this.objects.get(resource) ?? []) as readonly DeepReadonly<T>[];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }
}
