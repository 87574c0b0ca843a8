import type { Tracer } from '@opentelemetry/api';
import type { ActorRuntime } from '../actor/actor.js';
import type { Clock } from '../clock/index.js';
import type { BuiltController, Controller } from '../controller/index.js';
import type { EnqueuerOptions } from '../controller/index.js';
import { Enqueuer } from '../controller/index.js';
import { IllegalStateError, ShutdownError, hasCode } from '../errors/index.js';
import type { Logger } from '../logging/index.js';

/** Something with a life of its own: runs until aborted, resolves on a clean stop, rejects on a fatal error. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

/** The informers of this replica, as the manager sees them. */
export interface InformerGroup extends Runnable {
  waitForSync(signal: AbortSignal): Promise<void>;
  /** What a cache must show to have seen every deletion that ours have seen. @default nothing */
  deletionsSeen?(
    ...scope: Parameters<NonNullable<EnqueuerOptions['deletionsSeen']>>
  ): ReturnType<NonNullable<EnqueuerOptions['deletionsSeen']>>;
}

/** The elector, as the manager sees it: calls `lead` each time we are elected and awaits it before it gives up the lease. */
export interface Elector {
  /** Whether we lead at this moment, by the clock. @default until the signal of the leading work aborts */
  readonly isLeader?: boolean;
  run(lead: (signal: AbortSignal, epoch: number) => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** A controller with its two halves: what every replica works on, and what only the leader watches. */
export interface ManagedController {
  readonly controller: Controller;
  readonly built: BuiltController;
  /** Run while we lead. */
  readonly sweep?: Runnable;
}

/**
 * `starting`: informers fill. `running`: keys are worked on, and the lease is campaigned for. `stopping`: no new
 * keys; running ones finish, the lease is released. `stopped`: nothing of ours runs any more.
 */
export type ManagerState = 'created' | 'starting' | 'running' | 'stopping' | 'stopped';

export interface ManagerOptions {
  readonly informers: InformerGroup;
  readonly elector: Elector;
  readonly controllers: readonly ManagedController[];
  readonly actors: ActorRuntime;
  /** Run from before the informers until after everything else: the event recorder, monitors. */
  readonly background: readonly Runnable[];
  /**
   * `all`: every replica works on keys. `leader`: only the one that leads; it gives up the lease after its last key.
   * @default 'all'
   */
  readonly reconcileOn?: 'all' | 'leader';
  readonly clock: Clock;
  readonly logger: Logger;
  /** Spans the changes that the leader sees. @default none */
  readonly tracer?: Tracer;
}

/**
 * Starts and stops one replica in the right order. Start: background work, informers until synced, workers, the
 * election. Stop: readiness fails first (`state`); then, side by side, the workers finish their keys and the
 * leading work ends and releases the lease, so that the next leader does not wait for our slowest sync (keys are
 * guarded by their own locks, not by the lease); then informers, then background work.
 */
export class Manager {
  private current: ManagerState = 'created';

  constructor(private readonly options: ManagerOptions) {}

  get state(): ManagerState {
    return this.current;
  }

  /** Resolves after a clean stop; rejects, everything stopped, when a part failed for good. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.current !== 'created') throw new IllegalStateError('a manager runs once');
    const { background, elector, informers, logger } = this.options;
    const fatal = new AbortController();
    const stop = AbortSignal.any([signal, fatal.signal]);
    // Before anybody else hears of it: readiness is the first to go.
    stop.addEventListener('abort', () => (this.current = 'stopping'), { once: true });
    const groups = { background: new AbortController(), informers: new AbortController() };
    const guard = async (work: Promise<void>): Promise<void> => {
      try {
        await work;
      } catch (error) {
        if (!stop.aborted) fatal.abort(error);
      }
    };

    this.current = 'starting';
    const backgroundWork = background.map((runnable) => guard(runnable.run(groups.background.signal)));
    const informerWork = guard(informers.run(groups.informers.signal));
    try {
      await informers.waitForSync(stop);
      this.current = 'running';
      logger.info('the caches are filled; working');
      const work = this.works('all') ? this.work(stop).map(guard) : [];
      const election = guard(elector.run((leading, epoch) => this.lead(leading, epoch), stop));
      await aborted(stop);
      logger.info('stopping');
      await Promise.all([...work, election]);
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      this.current = 'stopping';
      groups.informers.abort(new ShutdownError('the controllers have stopped'));
      await informerWork;
      groups.background.abort(new ShutdownError('everything else has stopped'));
      await Promise.all(backgroundWork);
      this.current = 'stopped';
    }
    if (fatal.signal.aborted) throw fatal.signal.reason;
  }

  /** The leader's part: turns every change that its informers see, and first of all everything there is, into keys. */
  private async lead(signal: AbortSignal, epoch: number): Promise<void> {
    const { actors, clock, controllers, elector, informers, logger, tracer } = this.options;
    logger.info('leading', { epoch });
    const unsubscribes = controllers.map(({ built, controller }) => {
      const enqueuer = new Enqueuer({
        controller: controller.name,
        queue: controller.queue,
        actors,
        clock,
        logger,
        tracer,
        mayEnqueue: () => elector.isLeader !== false,
        deletionsSeen: (scope) => informers.deletionsSeen?.(scope) ?? [],
        needsSync: (key) => built.needsSync?.(key) ?? true,
      });
      return built.watch(enqueuer.enqueueUntil(signal));
    });
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const work = this.works('leader') ? this.work(until) : [];
    for (const { sweep } of controllers) if (sweep) work.push(sweep.run(until));
    try {
      await Promise.all([aborted(signal), ...work]);
    } finally {
      // One that failed takes the others with it: we are about to give up the lease.
      over.abort(new ShutdownError('the leading work has failed'));
      await Promise.allSettled(work);
      for (const unsubscribe of unsubscribes) unsubscribe();
      logger.info('no longer leading', { epoch });
    }
  }

  private works(who: 'all' | 'leader'): boolean {
    return (this.options.reconcileOn ?? 'all') === who;
  }

  /** Ends when the running keys have ended; after the loss of the lease they are told to end at once. */
  private work(signal: AbortSignal): Promise<void>[] {
    const lost = new AbortController();
    const onAbort = (): void => {
      if (hasCode(signal.reason, 'LEASE_LOST')) lost.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    return this.options.controllers.map(({ controller }) => controller.run(signal, lost.signal));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
