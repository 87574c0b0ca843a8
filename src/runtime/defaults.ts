/**
 * Defaults shared by the options of a manager and of programs built on it. Plain values, so that a command line can
 * show them without loading the code that uses them.
 */

/** Documented at `LeaderElectionOptions`. */
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

/** How long keys in progress may continue after a stop, milliseconds. */
export const DEFAULT_DRAIN_TIMEOUT_MS = 3000;

/** How long a sync waits for its caches, milliseconds. */
export const DEFAULT_CAUGHT_UP_TIMEOUT_MS = 5000;

/**
 * After this time, milliseconds, a cache shows a write or its replica knows that the watch has failed: by default, a
 * single watch that has fallen silent is noticed after 45 s at most, and all of them together after 25 s. Versions that a sync must have seen are not needed longer.
 */
export const CACHES_SHOW_WITHIN_MS = 60_000;

/** How long replicas that do not lead leave a key to the leader, milliseconds. 0: every replica takes keys at once. */
export const DEFAULT_SPREAD_AFTER_MS = 0;

/**
 * Time limit of a sync unless its controller overrides it, milliseconds. Allows three consecutive requests that each
 * take the full 32 s limit, and bounds how long a hanging sync blocks its object.
 */
export const DEFAULT_SYNC_TIMEOUT_MS = 120_000;

/** The greatest number of slots: each has a watch of its own for each type. */
export const MOST_SLOTS = 1024;
