import * as z from 'zod';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { LEADER_ELECTION_DEFAULTS as DEFAULTS } from '../defaults.js';

/** Metrics of the elector. */
export interface LeaderElectionMetrics {
  /** `leader_election_master_status` of client-go. */
  leading(isLeading: boolean): void;
  /** One attempt, with the time to its answer. */
  attempt(result: 'acquired' | 'renewed' | 'held' | 'failed', durationMs: number): void;
  /** Another holder, or another epoch, was seen. */
  transition(): void;
  /** We took the lease before it had expired, because its holder was dead. */
  deposed(): void;
}

export const noLeaderElectionMetrics: LeaderElectionMetrics = {
  leading: () => undefined,
  attempt: () => undefined,
  transition: () => undefined,
  deposed: () => undefined,
};

/** The times of an election (docs/LEADERSHIP.md). */
export interface LeaderElectionOptions {
  /**
   * How long after a renewal the lease is exclusive, milliseconds. A killed leader is replaced within about this time.
   * Raise all three together (15000/10000/2000 are Kubernetes' values) if the store is slow or its load matters more
   * than a quick failover.
   * @default 2500
   */
  leaseDurationMs?: number;
  /**
   * How long after its last successful renewal was sent the leader gives up by itself. The rest of `leaseDurationMs` is
   * the time to stop the work, and the margin for clocks.
   * @default 1800
   */
  renewDeadlineMs?: number;
  /** Interval between attempts, of the leader and of the followers. @default 400 */
  retryPeriodMs?: number;
  /**
   * Followers wait up to this much longer, as a share of `retryPeriodMs`, to spread their attempts.
   * @default 1.2
   */
  jitterFactor?: number;
  /**
   * How long after the end of its lease a leader whose work does not stop counts as healthy.
   * @default 10000
   */
  healthToleranceMs?: number;
  /**
   * When followers take over from a silent leader: with `witness` also as soon as its process is found dead, if there
   * is a witness; with `expiry` only when its lease expires.
   * @default 'witness'
   */
  takeover?: 'witness' | 'expiry';
  /**
   * Interval between a follower's looks at the witness, up to half as much longer. Together with the grace period it is
   * about the time to detect a dead leader.
   * @default 80
   */
  witnessPeriodMs?: number;
  /** How long a leader must have been absent: the time to re-establish a broken connection. @default 100 */
  witnessGraceMs?: number;
}

const schema = z.object({
  leaseDurationMs: z.number().positive().default(DEFAULTS.leaseDurationMs),
  renewDeadlineMs: z.number().positive().default(DEFAULTS.renewDeadlineMs),
  retryPeriodMs: z.number().positive().default(DEFAULTS.retryPeriodMs),
  jitterFactor: z.number().positive().default(DEFAULTS.jitterFactor),
  healthToleranceMs: z.number().nonnegative().default(DEFAULTS.healthToleranceMs),
  takeover: z.enum(['witness', 'expiry']).default(DEFAULTS.takeover),
  witnessPeriodMs: z.number().positive().default(DEFAULTS.witnessPeriodMs),
  witnessGraceMs: z.number().nonnegative().default(DEFAULTS.witnessGraceMs),
});

export type CompiledLeaderElectionOptions = Readonly<z.infer<typeof schema>>;

/**
 * The relations are those of client-go's `NewLeaderElector`: lease > renew deadline > retry period × jitter.
 * @throws InvalidOptionError
 */
export function compileLeaderElectionOptions(
  options: LeaderElectionOptions = {},
): CompiledLeaderElectionOptions {
  const compiled = compileOptions(schema, options, 'leaderElection');
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, jitterFactor } = compiled;
  if (leaseDurationMs <= renewDeadlineMs) {
    throw new InvalidOptionError(
      'leaderElection.leaseDurationMs',
      `${leaseDurationMs} must be greater than renewDeadlineMs ${renewDeadlineMs}`,
    );
  }
  if (renewDeadlineMs <= retryPeriodMs * jitterFactor) {
    throw new InvalidOptionError(
      'leaderElection.renewDeadlineMs',
      `${renewDeadlineMs} must be greater than retryPeriodMs × jitterFactor ${retryPeriodMs * jitterFactor}`,
    );
  }
  return compiled;
}
