import type {
  DeepReadonly,
  KubernetesObject,
  OwnerReference,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { groupOf } from './dependency-graph.js';

type Reference = Pick<DeepReadonly<OwnerReference>, 'apiVersion' | 'kind' | 'name' | 'uid'>;

/**
 * An LRU cache of owners known not to exist, so that a thousand dependents of one owner cost one request. Keyed by
 * kind, namespace, name and UID together: a UID alone might belong to another object, if a client can choose it.
 */
export class AbsentOwners {
  private readonly known = new Map<string, true>();

  /** @param capacity entries kept; a forgotten one costs one GET */
  constructor(private readonly capacity: number) {}

  /** The object's deletion was seen: references to it are dangling. */
  addDeleted({ group, kind }: ResourceType, { metadata }: DeepReadonly<KubernetesObject>): void {
    const { name, namespace, uid = '' } = metadata;
    this.remember(identity({ group, kind, name, uid }, namespace));
  }

  /** The server has no object for this reference from within `namespace`. */
  addVerified(reference: Reference, namespace: string | undefined): void {
    this.remember(identity({ ...reference, group: groupOf(reference.apiVersion) }, namespace));
  }

  /** @param namespace of the dependent; its owner may be in the same one, or in none */
  has(reference: Reference, namespace: string | undefined): boolean {
    const owner = { ...reference, group: groupOf(reference.apiVersion) };
    return this.touch(identity(owner, undefined)) || this.touch(identity(owner, namespace));
  }

  get size(): number {
    return this.known.size;
  }

  private remember(entry: string): void {
    this.known.delete(entry);
    this.known.set(entry, true);
    if (this.known.size <= this.capacity) return;
    for (const oldest of this.known.keys()) {
      this.known.delete(oldest);
      break;
    }
  }

  private touch(entry: string): boolean {
    if (!this.known.has(entry)) return false;
    this.remember(entry);
    return true;
  }
}

/** All versions of a kind have the same objects. */
function identity(
  { group, kind, name, uid }: Pick<Reference, 'kind' | 'name' | 'uid'> & Pick<ResourceType, 'group'>,
  namespace: string | undefined,
): string {
  return [uid, group, kind, namespace ?? '', name].join('|');
}
