import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import type { KubernetesObject, Pod, UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { FollowedResources, MemoryStorage } from '../../storage/index.js';
import type { FollowedObjects, Storage } from '../../storage/index.js';
import { SERVER } from './attributes.js';
import type { Attributes, WriteAttributes } from './attributes.js';
import { podOf } from '../../../testing/pod-builder.js';

export const kinds = createKindRegistry();

export function dependenciesOn(storage: Storage) {
  return { storage, kinds, clock: new FakeClock(), random: new SeededRandom(1), logger: silentLogger };
}

/** A followed resource with these objects. */
export async function followedOf<T extends KubernetesObject>(
  resource: string,
  ...objects: readonly T[]
): Promise<{ readonly followed: FollowedObjects<T>; readonly storage: MemoryStorage }> {
  const storage = new MemoryStorage({ clock: new FakeClock() });
  for (const object of objects) {
    const { name, namespace = '' } = object.metadata;
    await storage.create({ resource, namespace, name }, object);
  }
  const all = new FollowedResources(storage, dependenciesOn(storage));
  const followed = all.objects<T>(resource);
  await all.load();
  return { followed, storage };
}

export function admittedPod(spec: Partial<Pod['spec']> = {}, name = 'p'): Pod {
  return podOf({
    metadata: { name, namespace: 'a' },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });
}

/** A request to create a pod in the namespace `a`. */
export function creationOf(pod: Pod): WriteAttributes {
  return {
    operation: 'CREATE',
    kind: kinds.find('', 'v1', 'pods')!,
    subresource: '',
    namespace: 'a',
    name: pod.metadata.name,
    object: pod as unknown as UnstructuredObject,
    dryRun: false,
    caller: SERVER,
  };
}

/** The message of what `work` throws; undefined when it throws nothing. */
export async function refusalOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

export type { Attributes };
