import { abortable, aborted, onAbort } from '@rollkeeper/machinery/cancellation';
import type { Tracer } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { BuiltController, Controller, EnqueuerOptions, NamespaceOf } from '../controller/index.js';
import { Enqueuer } from '../controller/index.js';
import { IllegalStateError, LeaseLostError, ShutdownError, hasCode } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ActivationAdds, Activations, ControllerQueue } from '../activation/index.js';
import { beginTerm, keepChecking, tellingOfRefusal } from '../activation/index.js';
import type { LeaderAdds, LeaderTerm } from '../work-queue/index.js';
import { LeaderPrecedence } from '../work-queue/index.js';
import type { NeededInformer } from './needs.js';
import { missingOf } from './needs.js';
import type { SlotWork } from './slotted-work.js';
import { workInSlots } from './slotted-work.js';

/** A component with a life cycle: runs until aborted, resolves on a clean stop, rejects on a fatal error. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

/** The informers of this replica, as the manager sees them. */
export interface InformerGroup extends Runnable {
  /** Resolves once each has a list, or the server's answer that there is none; rejects with the signal's reason. */
  waitUntilSettled(signal: AbortSignal): Promise<void>;
  /** The versions that a cache must show to have seen every change that ours have seen. @default none */
  changesSeen?(
    ...scope: Parameters<NonNullable<EnqueuerOptions['changesSeen']>>
  ): ReturnType<NonNullable<EnqueuerOptions['changesSeen']>>;
}

/**
 * The elector, as the manager sees it: calls `lead` each time we are elected and awaits it before it releases the
 * lease. `lead` rejects with SupersededError if a target of its writes does not accept the term.
 */
export interface Elector {
  /** Whether we lead now, by the clock. @default until the signal of the leading work aborts */
  readonly isLeader?: boolean;
  run(lead: (signal: AbortSignal, term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** Work during leadership, with the adds of our term. */
export interface LeaderRunnable {
  run(adds: LeaderAdds, signal: AbortSignal): Promise<void>;
}

/** A controller with its two halves: the workers on every replica, and the watches on the leader. */
export interface ManagedController {
  readonly controller: Controller;
  /** The leader begins its terms in them. */
  readonly activations: Activations;
  /** Theirs: people inspect and manage it. */
  readonly queue: ControllerQueue;
  readonly built: BuiltController;
  /** Whether a key has an object, as far as the caches know. @default unknown */
  readonly hasObject?: (key: string) => boolean | undefined;
  /** See `ControllerDefinition.namespaceOf`. @default that of the key */
  readonly namespaceOf?: NamespaceOf;
  /** Runs while we lead. */
  readonly sweep?: LeaderRunnable;
  /** The caches that it requires; it starts as soon as all of them have synced. @default none */
  readonly needs?: readonly NeededInformer[];
  /**
   * See {@link ControllerDefinition.worksOn}; `slots`: each replica turns the changes of its slots into keys, and processes them.
   * @default 'all'
   */
  readonly worksOn?: 'all' | 'leader' | 'slots';
}

/** See `Coordination`, which has the same methods. */
interface Handover {
  /** For messages. */
  readonly name: string;
  readonly needsCurrentCaches?: boolean;
  beginTerm?(term: LeaderTerm, signal: AbortSignal): Promise<void>;
  handOver?(): Promise<void>;
}

/**
 * `starting`: informers fill. `running`: keys of at least one controller are processed, and we campaign for the lease.
 * `stopping`: no new keys; those in progress finish, the lease is released. `stopped`: nothing of ours runs any more.
 */
export type ManagerState = 'created' | 'starting' | 'running' | 'stopping' | 'stopped';

export interface ManagerOptions {
  readonly informers: InformerGroup;
  readonly elector: Elector;
  readonly controllers: readonly ManagedController[];
  /** Run from before the informers until after everything else: the event recorder, monitors. */
  readonly background: readonly Runnable[];
  /**
   * `all`: every replica processes keys. `leader`: only the leader; it releases the lease after its last key.
   * @default 'all'
   */
  readonly reconcileOn?: 'all' | 'leader';
  /** The work that this replica has to take over before it leads, and leaves behind after it. @default nothing */
  readonly handover?: Handover;
  /** For controllers that work in slots. @default there are none */
  readonly slots?: SlotWork | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Traces the changes that the leader sees. @default none */
  readonly tracer?: Tracer;
}

/**
 * Starts and stops one replica in the right order. Start: background work, informers until synced, workers, the
 * election. A resource that the server does not list only delays the controllers that need it; they start when it can
 * be listed. Stop: readiness fails first (`state`); then, concurrently, the workers finish their keys and the leading
 * work ends and releases the lease, so that the next leader does not wait for our slowest sync (keys are guarded by
 * their own locks, not by the lease); then informers, then background work.
 */
export class Manager {
  private current: ManagerState = 'created';
  private readonly precedence = new LeaderPrecedence();

  constructor(private readonly options: ManagerOptions) {}

  get state(): ManagerState {
    return this.current;
  }

  /** Resolves after a clean stop; rejects, with everything stopped, if a part failed permanently. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.current !== 'created') throw new IllegalStateError('a manager runs once');
    const { background, elector, informers, logger } = this.options;
    const fatal = new AbortController();
    const stop = AbortSignal.any([signal, fatal.signal]);
    // Registered before any other listener: readiness fails first.
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
      await informers.waitUntilSettled(stop);
      await this.firstToStart(stop);
      this.current = 'running';
      logger.info('the caches are filled; working');
      const everywhere = this.options.controllers.filter((managed) => this.worksEverywhere(managed));
      const work = everywhere.map((managed) => guard(this.work(managed, stop)));
      if (this.options.slots) work.push(guard(this.inSlots(this.options.slots, stop)));
      const election = guard(elector.run((leading, term) => this.lead(leading, term), stop));
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

  /** Resolves once one controller has what it needs; logs those that still wait. */
  private async firstToStart(stop: AbortSignal): Promise<void> {
    const { controllers, logger } = this.options;
    const filled = controllers.map((managed) => {
      const isFilled = this.untilFilled(managed, stop);
      const fields = { controller: managed.controller.name };
      const missing = missingOf(managed.needs ?? []);
      for (const { reason, resource } of missing)
        logger.error('a controller waits for a resource that cannot be listed', {
          ...fields,
          resource,
          reason,
        });
      if (missing.length > 0)
        isFilled.then(
          () => logger.info('a controller has what it waited for, and starts', fields),
          () => undefined,
        );
      return isFilled;
    });
    if (filled.length > 0) await Promise.race(filled);
  }

  private async untilFilled({ needs = [] }: ManagedController, signal: AbortSignal): Promise<void> {
    await Promise.all(needs.map((informer) => informer.waitForSync(signal)));
  }

  private async untilCurrent({ needs = [] }: ManagedController, signal: AbortSignal): Promise<void> {
    await Promise.all(needs.map(async (informer) => informer.waitUntilCurrent?.(signal)));
  }

  /** The leader's part: turns every change in its informers, and initially every object, into keys. */
  private async lead(signal: AbortSignal, term: LeaderTerm): Promise<void> {
    const { controllers, logger, slots } = this.options;
    const { epoch } = term;
    if (!(await this.takeOver(signal, term))) return;
    logger.info('leading', { epoch });
    this.precedence.set(true);
    // If one fails, or its adds are refused, the others are cancelled: we are about to give up the lease.
    const failed = new AbortController();
    const led = controllers.filter(({ worksOn }) => worksOn !== 'slots');
    const work = led.map((managed) => this.leadOne(managed, term, signal, failed));
    if (slots) work.push(this.leadSlots(slots, term, signal, failed));
    try {
      await Promise.all([aborted(signal), ...work]);
    } finally {
      this.precedence.set(false);
      await Promise.allSettled(work);
      // After the loss of the lease nothing of ours counts any more.
      if (!hasCode(signal.reason, 'LEASE_LOST')) await this.options.handover?.handOver?.();
      logger.info('no longer leading', { epoch });
    }
  }

  private async leadSlots(
    { leader }: SlotWork,
    term: LeaderTerm,
    signal: AbortSignal,
    failed: AbortController,
  ): Promise<void> {
    try {
      await leader.lead(term, AbortSignal.any([signal, failed.signal]));
    } catch (error) {
      failed.abort(whyFailed(error));
      throw error;
    }
  }

  private async inSlots(slots: SlotWork, stop: AbortSignal): Promise<void> {
    const { clock, controllers, logger, tracer } = this.options;
    const slotted = controllers.filter(({ worksOn }) => worksOn === 'slots');
    const filled = slotted.map((managed) => ({ ...managed, untilFilled: this.untilFilled(managed, stop) }));
    await workInSlots(filled, { ...slots, clock, logger, tracer }, stop);
  }

  /** Returns whether we still lead. @throws SupersededError */
  private async takeOver(signal: AbortSignal, term: LeaderTerm): Promise<boolean> {
    const { clock, handover, logger } = this.options;
    if (handover?.beginTerm) {
      const { name } = handover;
      const target = { name, beginTerm: async () => handover.beginTerm?.(term, signal) };
      await beginTerm(target, term, { clock, logger, signal });
    }
    return !signal.aborted;
  }

  /**
   * One controller's leading work, from when it has what it needs until we stop leading or a controller's work fails.
   */
  private async leadOne(
    managed: ManagedController,
    term: LeaderTerm,
    signal: AbortSignal,
    failed: AbortController,
  ): Promise<void> {
    const { clock, logger } = this.options;
    const { built, sweep } = managed;
    const until = AbortSignal.any([signal, failed.signal]);
    const refusal = new AbortController();
    // Continues until the last key has ended: the keys depend on its caches.
    const over = new AbortController();
    const leading = built.leading?.run(over.signal) ?? Promise.resolve();
    const work: Promise<void>[] = [];
    let unsubscribe = (): void => undefined;
    try {
      const adds = await Promise.race([this.prepared(managed, term, until), failureOf(leading)]);
      if (adds && !until.aborted) {
        const telling = tellingOfRefusal(adds, (error) => refusal.abort(error));
        unsubscribe = built.watch(this.enqueuerOf(managed, telling).enqueueUntil(until));
        if (!this.worksEverywhere(managed)) work.push(this.work(managed, until));
        if (sweep) work.push(sweep.run(telling, until));
        work.push(keepChecking(telling, { clock, logger, signal: until }));
      }
      const ended = abortable(aborted(until), refusal.signal);
      await Promise.race([Promise.all([ended, ...work]), failureOf(leading)]);
    } catch (error) {
      failed.abort(whyFailed(error));
      throw error;
    } finally {
      await Promise.allSettled(work);
      unsubscribe();
      managed.activations.dropKeys?.();
      over.abort(until.reason);
      await leading;
    }
  }

  /**
   * Resolves once no former leader can add any more and the controller's requirements for leading are met: the existing
   * objects must only be read after the former. `undefined` on abort.
   */
  private async prepared(
    managed: ManagedController,
    term: LeaderTerm,
    signal: AbortSignal,
  ): Promise<ActivationAdds | undefined> {
    const { clock, handover, logger } = this.options;
    try {
      const adds = await beginTerm(managed.activations, term, { clock, logger, signal });
      if (signal.aborted) return undefined;
      await this.untilFilled(managed, signal);
      if (handover?.needsCurrentCaches) await this.untilCurrent(managed, signal);
      await managed.built.leading?.waitUntilReady(signal);
      return adds;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined;
    }
  }

  private enqueuerOf({ built, controller }: ManagedController, adds: ActivationAdds): Enqueuer {
    const { clock, elector, informers, logger, tracer } = this.options;
    return new Enqueuer({
      controller: controller.name,
      adds,
      clock,
      logger,
      tracer,
      mayEnqueue: () => elector.isLeader !== false,
      changesSeen: (scope) => informers.changesSeen?.(scope) ?? [],
      needsSync: (key) => built.needsSync?.(key) ?? true,
    });
  }

  private worksEverywhere({ worksOn = 'all' }: ManagedController): boolean {
    return worksOn === 'all' && (this.options.reconcileOn ?? 'all') === 'all';
  }

  /**
   * Processes the keys of one controller, from when it has what it needs. Ends when the keys in progress have ended;
   * after the loss of the lease they are cancelled.
   */
  private async work(managed: ManagedController, signal: AbortSignal): Promise<void> {
    try {
      await this.untilFilled(managed, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const lost = new AbortController();
    onAbort(signal, () => {
      if (hasCode(signal.reason, 'LEASE_LOST')) lost.abort(signal.reason);
    });
    await managed.controller.run(signal, { endNow: lost.signal, precedence: this.precedence });
  }
}

/**
 * Returns the error that ends the rest of the leading work. In a term that was refused, no key may run on: another
 * leader may have it.
 */
function whyFailed(cause: unknown): Error {
  if (hasCode(cause, 'SUPERSEDED')) return new LeaseLostError('the term does not count any more', { cause });
  return new ShutdownError('the leading work has failed', { cause });
}

/** Rejects as `work` does, and never resolves. */
function failureOf(work: Promise<void>): Promise<never> {
  return new Promise((_, reject) => void work.catch(reject));
}
