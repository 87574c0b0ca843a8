import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause, pauseUntilBeat, untilBeatMs } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { WakeableSleep } from '@rollkeeper/runtime/leader-election/wakeable-sleep';
import type { Precedence } from '@rollkeeper/runtime/work-queue';
import type { RunningWork } from '@rollkeeper/runtime/work-queue/running-work';
import type { BullMqWorkQueue } from './bullmq-work-queue.js';

/** The dependencies of {@link BullMqTending}. */
interface BullMqTendingDependencies {
  readonly queue: Pick<
    BullMqWorkQueue,
    'glance' | 'maintain' | 'metrics' | 'name' | 'options' | 'sweepStray'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly precedence: Precedence;
  /** The handlers of this replica. */
  readonly running: RunningWork;
  /** Lets the keys of dead workers run again. */
  readonly takeOver: () => Promise<void>;
}

/** Every fifth round of maintenance looks for stray keys. */
const SWEEP_EVERY = 5;
/** A replica that comes after others, and has nothing to do, looks at a queue at rest so many times as seldom. */
const RELAXED = 5;

/**
 * The work of a consumer for its whole queue: maintenance, gauges, and taking over the keys of dead workers. A queue at rest costs one
 * glance now and then, for which all queues of a process send one command. Stalled jobs are only looked for while a key is active
 * anywhere.
 *
 * The glances are close enough to find an active key before its lock can have expired, so a dead worker's key is taken over as soon as
 * if there were checks all the time. If the replica that comes first dies, the one that follows it glances at once.
 */
export class BullMqTending {
  /** As of the last glance: bull-board can pause a queue on all replicas. */
  isPaused = false;
  private readonly rest: WakeableSleep;
  private isResting = false;
  private hasActive = false;
  private takingOver: Promise<void> | undefined;

  constructor(private readonly deps: BullMqTendingDependencies) {
    this.rest = new WakeableSleep(deps.clock);
  }

  /** A handler has started: the queue is at rest no more. */
  started(): void {
    if (this.isResting) this.rest.wake();
  }

  /** Runs until aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, precedence, queue } = this.deps;
    const { lockDurationMs, maintenanceIntervalMs } = queue.options;
    const everyMs = Math.min(maintenanceIntervalMs, lockDurationMs / 2);
    const unsubscribe = precedence.onChange(() => this.started());
    let maintainedAtMs = clock.monotonicNow();
    let rounds = 0;
    let isAtRest = false;
    while (!signal.aborted) {
      await this.waitForRound(isAtRest, everyMs, signal);
      if (isAborted(signal)) break;
      try {
        isAtRest = await this.glance(signal);
        // A beat may come a little early.
        if (isAtRest || clock.monotonicNow() - maintainedAtMs < maintenanceIntervalMs * 0.9) continue;
        maintainedAtMs = clock.monotonicNow();
        await queue.maintain();
        rounds += 1;
        if (rounds % SWEEP_EVERY === 0) await queue.sweepStray();
      } catch (error) {
        isAtRest = false;
        if (!isAborted(signal)) logger.warn('maintenance of the queue failed', { error });
      }
    }
    unsubscribe();
    await this.takingOver;
  }

  private async waitForRound(isAtRest: boolean, everyMs: number, signal: AbortSignal): Promise<void> {
    const { clock, precedence, running } = this.deps;
    const mayRest = isAtRest && !precedence.isFirst && running.size === 0;
    if (!mayRest) return void (await pauseUntilBeat(clock, everyMs, signal));
    this.isResting = true;
    await this.rest.sleep(untilBeatMs(clock.monotonicNow(), everyMs * RELAXED), signal);
    this.isResting = false;
  }

  /** Returns whether the queue is at rest. */
  private async glance(signal: AbortSignal): Promise<boolean> {
    const { queue, running } = this.deps;
    const { active, isAtRest, isPaused, parked, waiting } = await queue.glance();
    this.isPaused = isPaused;
    this.hasActive = active > 0;
    if (this.hasActive) this.takingOver ??= this.takeOverUntilRest(signal);
    queue.metrics.gauges(queue.name, { depth: waiting, parked, ...running.ages() });
    return isAtRest;
  }

  private async takeOverUntilRest(signal: AbortSignal): Promise<void> {
    const { clock, logger, queue, takeOver } = this.deps;
    while (this.hasActive && !signal.aborted) {
      try {
        await takeOver();
      } catch (error) {
        if (!isAborted(signal)) logger.warn('the keys of dead workers could not be looked for', { error });
      }
      await pause(clock, queue.options.stalledIntervalMs, signal);
    }
    this.takingOver = undefined;
  }
}
