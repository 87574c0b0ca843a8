/**
 * `absent`: nobody is there any more. `unknown`: no answer, or none from the place that was asked for.
 */
export type Sighting = 'present' | 'absent' | 'unknown';

/**
 * Tells whether the process of a lease's holder is still there, sooner than its lease runs out: by connections, which the
 * kernel closes when a process dies.
 *
 * A sighting is evidence, no proof: a connection may break while its process lives. Whoever acts upon it must be safe
 * against a former holder that goes on; all that a mistake may cost is one more change of holders. A process that is paused,
 * and a machine that is cut off, are still `present`: those show by the end of the lease only.
 */
export interface HolderWitness {
  /** Where others can see us at this moment; empty: nowhere. Goes into the lease with each request. */
  readonly place: string;
  /** Keeps us visible until aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks for a holder where it has said that it can be seen. Rejects with the signal's reason alone. */
  look(identity: string, place: string, signal: AbortSignal): Promise<Sighting>;
  /**
   * Calls `tell` when we cannot be seen any more where we were: others may be about to take us for dead, so the lease
   * should say at once that we are not to be looked for. Returns the unsubscribe.
   */
  onHidden(tell: () => void): () => void;
}
