/**
 * A signal that aborts with the first of several, for as long as something runs; {@link LinkedAbort.close} ends the link
 * and leaves nothing behind on signals that live longer. What `AbortSignal.any` does by weak references, which cost the
 * garbage collector more than they save where the end is known.
 */
export class LinkedAbort {
  private readonly controller = new AbortController();
  private readonly links: readonly { readonly parent: AbortSignal; readonly onAbort: () => void }[];

  constructor(...parents: readonly AbortSignal[]) {
    this.links = parents.map((parent) => ({ parent, onAbort: () => this.controller.abort(parent.reason) }));
    const aborted = this.links.find(({ parent }) => parent.aborted);
    if (aborted) aborted.onAbort();
    else
      for (const { onAbort, parent } of this.links) parent.addEventListener('abort', onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Aborts for a reason of its own, unless a parent came first. */
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** From now on the signal stays as it is. */
  close(): void {
    for (const { onAbort, parent } of this.links) parent.removeEventListener('abort', onAbort);
  }
}
