import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemRandom, doublingDelayMs, uuidOf } from '@rollkeeper/machinery/clock';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { activeTraceparent } from '@rollkeeper/machinery/trace-context';
import type { AddOptions, BegunTerm, LeaderTerm, WorkItem, WorkQueueConsumer } from '../work-queue/index.js';
import type { Activation, ActorRuntime, EarlyAcquisition, WorkLimit } from './activation.js';
import type {
  ActivationAdds,
  ActivationOutcome,
  Activations,
  AddCauses,
  ControllerQueue,
  TakeOptions,
  TakenKey,
} from './activations.js';

/** Adds of a queue that can record causes in the same step. */
export interface OneStepAdds extends BegunTerm {
  addWithCauses?(key: string, causes: ResourceVersions, options?: AddOptions): Promise<void>;
}

/** The fields that a queue adds to an item if it asks for the actor's lock in the step that starts the run. */
export interface StartedLock {
  readonly early?: EarlyAcquisition;
}

type StartedItem = WorkItem & StartedLock;

export interface QueuedActivationsParts {
  /** Its adds may be {@link OneStepAdds}. */
  readonly queue: ControllerQueue & { beginTerm(term: LeaderTerm): Promise<OneStepAdds> };
  readonly consumer: WorkQueueConsumer<StartedItem>;
  readonly actors: Pick<ActorRuntime, 'activate' | 'recordCauses'>;
  readonly clock: Clock;
  /** For the ids of failures. @default SystemRandom */
  readonly random?: RandomSource;
  readonly logger: Logger;
  readonly dropKeys?: () => void;
}

const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 1000;

/** {@link Activations} of any work queue and any actor runtime. */
export class QueuedActivations implements Activations {
  readonly dropKeys?: () => void;

  constructor(private readonly parts: QueuedActivationsParts) {
    if (parts.dropKeys) this.dropKeys = parts.dropKeys;
  }

  get name(): string {
    return this.parts.queue.name;
  }

  get queue(): ControllerQueue {
    return this.parts.queue;
  }

  get isConsuming(): boolean {
    return this.parts.consumer.isConsuming;
  }

  async beginTerm(term: LeaderTerm): Promise<ActivationAdds> {
    const adds = await this.parts.queue.beginTerm(term);
    return {
      check: () => adds.check(),
      add: (key, options) => adds.add(key, options),
      addWithCauses: (key, causes, options) => this.addWithCauses(adds, key, causes, options),
    };
  }

  run(
    handle: (taken: TakenKey) => Promise<void>,
    { endNow, ...options }: TakeOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const take = async (item: StartedItem, itemSignal: AbortSignal): Promise<void> =>
      handle(new QueuedKey(this.parts, item, itemSignal));
    const takeUntil = async (item: StartedItem, itemSignal: AbortSignal): Promise<void> => {
      if (!endNow) return take(item, itemSignal);
      const either = new LinkedAbort(itemSignal, endNow);
      try {
        await take(item, either.signal);
      } finally {
        either.close();
      }
    };
    return this.parts.consumer.run(takeUntil, options, signal);
  }

  private async addWithCauses(
    adds: OneStepAdds,
    key: string,
    { assertLeads, versions }: AddCauses,
    options?: AddOptions,
  ): Promise<void> {
    if (adds.addWithCauses) return adds.addWithCauses(key, versions, options);
    // The causes first: the key may be taken as soon as it is added.
    await this.parts.actors.recordCauses(this.name, key, versions);
    assertLeads?.();
    return adds.add(key, options);
  }
}

class QueuedKey implements TakenKey {
  private failureId: string | undefined;

  constructor(
    private readonly parts: QueuedActivationsParts,
    readonly item: StartedItem,
    readonly signal: AbortSignal,
  ) {}

  activate<R>(work: (activation: Activation) => Promise<R>, limit?: WorkLimit): Promise<R> {
    const { actors, queue } = this.parts;
    const { early, key } = this.item;
    return actors.activate(queue.name, key, this.signal, work, { early, limit });
  }

  async complete(outcome: ActivationOutcome): Promise<{ readonly parked: boolean }> {
    const { clock, logger } = this.parts;
    for (let failures = 0; ; failures++) {
      try {
        return { parked: await this.giveBack(outcome) };
      } catch (error) {
        if (this.signal.aborted) throw error;
        logger.warn('could not hand a key back to the queue; trying again', { key: this.item.key, error });
        const backoff = { firstMs: FIRST_BACKOFF_MS, longestMs: LONGEST_BACKOFF_MS };
        await clock.sleep(doublingDelayMs(failures, backoff), this.signal);
      }
    }
  }

  /** @returns whether the key was parked */
  private async giveBack(outcome: ActivationOutcome): Promise<boolean> {
    const { queue } = this.parts;
    const { comesBack, key, priority, reason, retries } = this.item;
    const trace = { traceparent: activeTraceparent() ?? this.item.traceparent };
    switch (outcome.action) {
      case 'done':
        if (retries > 0 || comesBack) await queue.forget(key);
        return false;
      case 'requeue-after':
        if (retries > 0) await queue.forget(key);
        await queue.addAfter(key, outcome.delayMs, { reason: 'requeue', ...trace });
        return false;
      case 'come-back': {
        const { delayMs } = outcome;
        const again = { reason, priority, ...trace };
        await (delayMs > 0 ? queue.addAfter(key, delayMs, again) : queue.add(key, again));
        return false;
      }
      case 'retry': {
        const { error, leastDelayMs } = outcome;
        const { parked } = await queue.addRateLimited(key, error, {
          reason: 'retry',
          leastDelayMs,
          failureId: (this.failureId ??= uuidOf(this.parts.random ?? new SystemRandom())),
          ...trace,
        });
        return parked;
      }
      case 'park':
        return (await queue.park(key, outcome.error, trace)).parked;
    }
  }
}
