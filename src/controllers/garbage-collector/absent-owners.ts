import type { DeepReadonly, OwnerReference } from '../../base/kubernetes/index.js';

/**
 * Owners that are known not to exist, the least recently used forgotten first, so that a thousand dependents of one
 * owner cost one question. A UID is never given out twice: what was deleted stays deleted.
 */
export class AbsentOwners {
  private readonly known = new Map<string, true>();

  /** @param capacity entries kept; a forgotten one costs one GET */
  constructor(private readonly capacity: number) {}

  /** The object itself was seen to be deleted: whoever names its UID, names nothing. */
  addDeleted(uid: string): void {
    this.remember(uid);
  }

  /**
   * The server has nothing that this reference names from within `namespace`. Says nothing about the UID as such: it may
   * belong to an object elsewhere, which other references name rightly.
   */
  addVerified(reference: DeepReadonly<OwnerReference>, namespace: string | undefined): void {
    this.remember(coordinates(reference, namespace));
  }

  has(reference: DeepReadonly<OwnerReference>, namespace: string | undefined): boolean {
    return this.touch(reference.uid) || this.touch(coordinates(reference, namespace));
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

function coordinates(reference: DeepReadonly<OwnerReference>, namespace: string | undefined): string {
  return [reference.uid, reference.apiVersion, reference.kind, namespace ?? '', reference.name].join('|');
}
