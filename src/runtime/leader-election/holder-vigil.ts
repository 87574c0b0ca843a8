import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { jitter, pause } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { HolderWitness, Sighting } from './holder-witness.js';
import type { CompiledLeaderElectionOptions } from './leader-election.options.js';
import type { DeposedHolder } from './resource-lock.js';

/** What is known of a holder's absence. Times are of our own monotonic clock. */
export interface Absence {
  readonly sinceMs?: number;
}

export type VigilStep =
  | { readonly step: 'look-again'; readonly absence: Absence; readonly waitMs: number }
  | { readonly step: 'gone'; readonly absence: Absence };

/**
 * What follows from a sighting. Only a holder that was absent at two looks, the grace apart, with nothing else in between,
 * is gone: a connection that broke is built again within that.
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

export interface HolderVigilDependencies {
  readonly witness: HolderWitness;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly options: CompiledLeaderElectionOptions;
}

/** The others' vigils shall not come all at once. */
const JITTER = 0.5;

/** A follower's look-out: whether the holder of the lease is still there. */
export class HolderVigil {
  private holder: DeposedHolder | undefined;
  private absence: Absence = {};

  constructor(private readonly deps: HolderVigilDependencies) {}

  /** Whom the lease names now; looked for while it says where. */
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

  /** Until aborted; calls `onGone` whenever the holder is found to be gone. Never rejects. */
  async run(onGone: (holder: DeposedHolder) => void, signal: AbortSignal): Promise<void> {
    const { clock, options, random } = this.deps;
    while (!signal.aborted) {
      const { holder } = this;
      const canBeSeen = holder !== undefined && holder.holderIdentity !== '' && holder.witness !== '';
      let waitMs = jitter(options.witnessPeriodMs, JITTER, random);
      if (canBeSeen) waitMs = Math.min(await this.look(holder, onGone, signal), waitMs);
      await pause(clock, waitMs, signal);
    }
  }

  /** Returns after how long to look again. */
  private async look(
    holder: DeposedHolder,
    onGone: (holder: DeposedHolder) => void,
    signal: AbortSignal,
  ): Promise<number> {
    const { clock, logger, options, witness } = this.deps;
    const { witnessGraceMs: graceMs, witnessPeriodMs: periodMs } = options;
    const { holderIdentity: leader, leaderTransitions: epoch } = holder;
    const sighting = await witness.look(leader, holder.witness, signal).catch((): Sighting => 'unknown');
    if (signal.aborted || holder !== this.holder) return 0;
    const decided = decideVigil(this.absence, sighting, clock.monotonicNow(), { periodMs, graceMs });
    this.absence = decided.absence;
    if (decided.step === 'look-again') return decided.waitMs;
    logger.info('the holder of the leader lease is gone', { leader, epoch });
    onGone(holder);
    return periodMs;
  }
}
