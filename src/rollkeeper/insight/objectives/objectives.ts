/**
 * The promises about each rollout: docs/RELIABILITY.md says so, the alerts watch it, the benchmark and the console show
 * it.
 */
export const OBJECTIVES = {
  firstWrite: { title: 'change to first write', p50: 0.1, p99: 0.5 },
  overhead: { title: "change to complete, less the pods' own time", p50: 0.5, p99: 2 },
} as const;

/** The measured quantities. */
export type Quantity = keyof typeof OBJECTIVES;

/** The part of all that may take longer than the p99: the budget. */
export const ALLOWED_PART = 0.01;

/** One measurement: when it was made, epoch milliseconds, and how long it took, seconds. */
export type Sample = readonly [atMs: number, seconds: number];

export type Samples = Readonly<Record<Quantity, readonly Sample[]>>;
