import type { Logger } from '@rollkeeper/machinery/logging';
import type { Revision, StorageKey } from './storage.js';

/** Says what is wrong with an object of a qualified resource; undefined: it can be worked with. */
export type ObjectCheck = (resource: string, object: object) => string | undefined;

/** Called with the number of unreadable objects of a qualified resource, whenever it changes. */
export type UnreadableListener = (resource: string, count: number) => void;

/**
 * The objects of the store that this server cannot understand. It continues without them: each affects only itself. They can be
 * deleted by name.
 */
export class UnreadableObjects {
  /** By qualified resource, then `namespace/name`. */
  private readonly known = new Map<string, Map<string, Revision>>();

  constructor(
    private readonly logger: Logger,
    private readonly changed: UnreadableListener = () => undefined,
  ) {}

  /** Named as `kubectl` takes them: `roles.rbac.authorization.k8s.io a/b`. In no particular order. */
  get names(): readonly string[] {
    return [...this.known].flatMap(([resource, objects]) =>
      [...objects.keys()].map((id) => `${resource} ${id.replace(/^\//, '')}`),
    );
  }

  /** Whether a resource has any. */
  hasAny(resource: string): boolean {
    return this.known.has(resource);
  }

  /** Reports how many a resource has, so that a metric shows 0 from the start. */
  report(resource: string): void {
    this.changed(resource, this.known.get(resource)?.size ?? 0);
  }

  has({ resource, namespace, name }: StorageKey): boolean {
    return this.known.get(resource)?.has(`${namespace}/${name}`) ?? false;
  }

  add({ resource, namespace, name }: StorageKey, revision: Revision, problem: string): void {
    const objects = this.known.get(resource) ?? new Map<string, Revision>();
    const id = `${namespace}/${name}`;
    if (objects.get(id) === revision) return;
    this.logger.error(`an object in the store cannot be understood and ${consequenceFor(resource)}: correct it, or delete it by its name`, {
      ...{ resource, namespace, name, problem },
    });
    this.known.set(resource, objects.set(id, revision));
    this.changed(resource, objects.size);
  }

  /** Its text can be read. It may still be noted for what it says, as long as it is in the same state. */
  readable(key: StorageKey, revision: Revision): void {
    const noted = this.known.get(key.resource)?.get(`${key.namespace}/${key.name}`);
    if (noted !== revision) this.remove(key);
  }

  /** The object was deleted, or is readable again. */
  remove({ resource, namespace, name }: StorageKey): void {
    const objects = this.known.get(resource);
    if (!objects?.delete(`${namespace}/${name}`)) return;
    if (objects.size === 0) this.known.delete(resource);
    this.changed(resource, objects.size);
  }
} // prettier-ignore

/** A policy or webhook that cannot be read does not let pass the requests that it may be for. */
function consequenceFor(resource: string): string {
  return resource.endsWith('.admissionregistration.k8s.io')
    ? 'what it may be for is refused, unless it may be ignored'
    : 'counts as absent';
}
