/** The verdicts of one look at a check. */
export const VERDICTS = ['passed', 'failed', 'unknown'] as const;
export type CheckVerdict = (typeof VERDICTS)[number];

/** The result of one look at a check. */
export interface Measured {
  readonly verdict: CheckVerdict;
  readonly value?: number;
  readonly message?: string;
  /** The check is over by it, regardless of the limits: a webhook that said no, a Job that failed. */
  readonly isFinal?: boolean;
}
