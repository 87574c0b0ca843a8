/** The verdicts of one look at a check. */
export const VERDICTS = ['passed', 'failed', 'unknown'] as const;
export type CheckVerdict = (typeof VERDICTS)[number];
