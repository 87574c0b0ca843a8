import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { jitter, pause } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { HolderWitness, Sighting } from './holder-witness.js';
import type { CompiledLeaderElectionOptions } from './leader-election.options.js';
import type { DeposedHolder } from './resource-lock.js';

/** Observations of a holder's absence. Times are of our own monotonic clock. */
export interface Absence {
  readonly sinceMs?: number;
}

export type VigilStep =
  | { readonly step: 'look-again'; readonly absence: Absence; readonly waitMs: number }
  | { readonly step: 'gone'; readonly absence: Absence };

/**
 * Evaluates an observation. A holder counts as dead only if it was absent in two looks at least the grace period apart,
 * without any other observation in between: a broken connection is re-established within that time.
 */
export function decideVigil(
  { sinceMs }: Absence,
  sighting: Sighting,
  nowMs: number,
  { periodMs, graceMs }: { readonly periodMs: number; readonly graceMs: number },
): VigilStep {
  if (sighting !== 'absent') return { step: 'look-again', absence: {}, waitMs: periodMs };
  const absence = { sinceMs: sinceMs ?? nowMs };
  const leftMs = absence.sinceMs + graceMs - nowMs;
  return leftMs <= 0
    ? { step: 'gone', absence }
    : { step: 'look-again', absence, waitMs: Math.min(leftMs, periodMs) };
}

interface HolderVigilDependencies {
  readonly witness: HolderWitness;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly options: CompiledLeaderElectionOptions;
}

/** Spreads the looks of different followers. */
const JITTER = 0.5;
/** So many followers share the looks at most: each finds a dead holder by itself within as many periods. */
const MAX_SHARES = 5;

/** A follower's check whether the holder of the lease is alive. */
export class HolderVigil {
  private holder: DeposedHolder | undefined;
  private absence: Absence = {};

  constructor(private readonly deps: HolderVigilDependencies) {}

  /** The current holder of the lease; checked as long as it names a place. */
  watch(holder: DeposedHolder): void {
    const before = this.holder;
    const isSame =
      before?.holderIdentity === holder.holderIdentity &&
      before.leaderTransitions === holder.leaderTransitions &&
      before.witness === holder.witness;
    if (isSame) return;
    this.holder = holder;
    this.absence = {};
  }

  /** Runs until aborted; calls `onGone` whenever the holder is found dead. Never rejects. */
  async run(onGone: (holder: DeposedHolder) => void, signal: AbortSignal): Promise<void> {
    const { clock, options, random, witness } = this.deps;
    while (!signal.aborted) {
      const { holder } = this;
      const canBeSeen = holder !== undefined && holder.holderIdentity !== '' && holder.witness !== '';
      const soonMs = canBeSeen ? await this.look(holder, onGone, signal) : undefined;
      const shares = Math.min(witness.lookers ?? 1, MAX_SHARES);
      await pause(clock, soonMs ?? jitter(options.witnessPeriodMs * shares, JITTER, random), signal);
    }
  }

  /** Returns the delay before the next look if that is not the usual one. */
  private async look(
    holder: DeposedHolder,
    onGone: (holder: DeposedHolder) => void,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, logger, options, witness } = this.deps;
    const { witnessGraceMs: graceMs, witnessPeriodMs: periodMs } = options;
    const { holderIdentity: leader, leaderTransitions: epoch } = holder;
    const sighting = await witness.look(leader, holder.witness, signal).catch((): Sighting => 'unknown');
    if (signal.aborted || holder !== this.holder) return 0;
    const decided = decideVigil(this.absence, sighting, clock.monotonicNow(), { periodMs, graceMs });
    this.absence = decided.absence;
    if (decided.step === 'look-again')
      return decided.absence.sinceMs === undefined ? undefined : decided.waitMs;
    logger.info('the holder of the leader lease is gone', { leader, epoch });
    onGone(holder);
    return periodMs;
  }
}
