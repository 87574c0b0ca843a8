import { z } from 'zod';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { LEADER_ELECTION_DEFAULTS as DEFAULTS } from '../defaults.js';

/** What the elector counts. */
export interface LeaderElectionMetrics {
  /** `leader_election_master_status` of client-go. */
  leading(isLeading: boolean): void;
  /** One attempt, with how long its answer took. */
  attempt(result: 'acquired' | 'renewed' | 'held' | 'failed', durationMs: number): void;
  /** Another holder, or another epoch, was seen. */
  transition(): void;
  /** We have taken the lease before it had run out, because its holder was gone. */
  deposed(): void;
}

export const noLeaderElectionMetrics: LeaderElectionMetrics = {
  leading: () => undefined,
  attempt: () => undefined,
  transition: () => undefined,
  deposed: () => undefined,
};

export interface LeaderElectionOptions {
  /**
   * For how long nobody else may take the lease after a renewal, milliseconds. A killed leader is replaced within
   * about this time. Raise all three together (15000/10000/2000 is Kubernetes' choice) where the store is slow or
   * its load matters more than a quick failover.
   * @default 2500
   */
  leaseDurationMs?: number;
  /**
   * After how long without a successful renewal the leader gives up by itself, counted from before the renewal was
   * sent. What is left to `leaseDurationMs` is the time to stop the work, and the margin for clocks.
   * @default 1800
   */
  renewDeadlineMs?: number;
  /** Between two attempts, of the leader and of the others. @default 400 */
  retryPeriodMs?: number;
  /**
   * The others wait up to this much longer, as a share of `retryPeriodMs`, so that they do not come all at once.
   * @default 1.2
   */
  jitterFactor?: number;
  /**
   * How long after the end of its lease a leader whose work does not stop counts as healthy.
   * @default 10000
   */
  healthToleranceMs?: number;
  /**
   * When the others take over from a leader that says nothing: by the `witness` also as soon as its process is seen to be
   * gone, where there is a witness; by `expiry` only at the end of its lease.
   * @default 'witness'
   */
  takeover?: 'witness' | 'expiry';
  /**
   * Between two looks of a follower at the witness, up to half as much longer. Together with the grace it is about the time
   * in which a leader's death is noticed.
   * @default 80
   */
  witnessPeriodMs?: number;
  /** How long a leader must have been out of sight: the time to build a broken connection again. @default 100 */
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
