/** `absent`: no such process. `unknown`: no answer, or none from the requested place. */
export type Sighting = 'present' | 'absent' | 'unknown';

/**
 * Detects whether the process of a lease's holder is alive, sooner than its lease expires: by connections, which the
 * kernel closes when a process dies.
 *
 * A sighting is evidence, not proof: a connection may break while its process lives. Callers must be safe against a
 * former holder that continues; a mistake may only cost one more change of holders. A paused process and an isolated
 * machine are still `present`: these are only detected when the lease expires.
 */
export interface HolderWitness {
  /** The place at which others can see us now; empty: nowhere. Stored in the lease with each request. */
  readonly place: string;
  /**
   * How many processes look for holders, ourselves included, as far as the last look has shown it: they share the looks.
   * @default 1
   */
  readonly lookers?: number;
  /** Keeps us visible until aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks for a holder at the place that it has announced. Rejects only with the signal's reason. */
  look(identity: string, place: string, signal: AbortSignal): Promise<Sighting>;
  /**
   * Calls `tell` when we are no longer visible at our place: others may be about to consider us dead, so the lease
   * should immediately say not to look for us. Returns the unsubscribe.
   */
  onHidden(tell: () => void): () => void;
}
