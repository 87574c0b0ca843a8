/**
 * Defaults that the options of a manager and those of a program built on one share. Plain values, so that a command line
 * can show them without loading what uses them.
 */

/** Each one's meaning is at `LeaderElectionOptions`. */
export const LEADER_ELECTION_DEFAULTS = {
  leaseDurationMs: 2500,
  renewDeadlineMs: 1800,
  retryPeriodMs: 400,
  jitterFactor: 1.2,
  healthToleranceMs: 10_000,
  takeover: 'witness',
  witnessPeriodMs: 80,
  witnessGraceMs: 100,
} as const;

/** How long running keys may go on after a stop, milliseconds. */
export const DEFAULT_DRAIN_TIMEOUT_MS = 3000;

/** How long a sync waits for its caches, milliseconds. */
export const DEFAULT_CAUGHT_UP_TIMEOUT_MS = 5000;

/**
 * How long a sync may take unless its controller says otherwise, milliseconds. Three requests in a row that each take all of the
 * 32 s that a request has fit in; and a sync that hangs keeps its object waiting for no longer.
 */
export const DEFAULT_SYNC_TIMEOUT_MS = 120_000;
