/**
 * A signal that aborts with the first of its parents; {@link LinkedAbort.close} removes the link and leaves nothing
 * behind on long-lived parents. `AbortSignal.any` does the same with weak references, which cost the garbage collector
 * more than they save when the end is known.
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

  /** Aborts for a reason of its own, unless a parent was first. */
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** Freezes the signal in its current state. */
  close(): void {
    for (const { onAbort, parent } of this.links) parent.removeEventListener('abort', onAbort);
  }
}
