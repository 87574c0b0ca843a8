/** What one look at a check comes to. */
export const VERDICTS = ['passed', 'failed', 'unknown'] as const;
export type CheckVerdict = (typeof VERDICTS)[number];
