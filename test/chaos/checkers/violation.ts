/** A promise that was broken. */
export interface Violation {
  /** Which of the checks, for example `limits`. */
  readonly check: string;
  readonly subject: string;
  readonly problem: string;
}
