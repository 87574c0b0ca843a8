/** A promise that was broken. */
export interface Violation {
  /** The name of the check that found it, for example `limits`. */
  readonly check: string;
  readonly subject: string;
  readonly problem: string;
}
