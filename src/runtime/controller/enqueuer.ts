import type { Tracer } from '@opentelemetry/api';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { ExpiringMap, doublingDelayMs, pause } from '@rollkeeper/machinery/clock';
import { LeaseLostError, hasCode } from '@rollkeeper/machinery/errors';
import type { VersionScope } from '@rollkeeper/client/informer/informer';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { keyOf, newestOfEach, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ActivationAdds } from '../activation/index.js';
import type { AddOptions } from '../work-queue/index.js';
import { mergeAdds, rankOf } from '../work-queue/index.js';
import { CACHES_SHOW_WITHIN_MS } from '../defaults.js';
import { ChangeSpan } from './change-span.js';
import type { Enqueue, EnqueueRequest } from './controller-definition.js';
import type { Burst } from './decide-burst.js';
import { decideBurst } from './decide-burst.js';

/** A pending write to Redis for one key: several merged changes, delayed until their burst ends. */
interface HeldAdd {
  readonly causes: ResourceVersions;
  readonly options: AddOptions;
  readonly burst: Burst;
  /** Whether all changes of the burst have it set. */
  readonly onlyIfNeeded: boolean;
  /** Open while the add is held. */
  readonly span?: ChangeSpan;
}

const FIRST_BACKOFF_MS = 20;
const LONGEST_BACKOFF_MS = 1000;

type Cause = NonNullable<EnqueueRequest['cause']>;

export interface EnqueuerOptions {
  readonly controller: string;
  /** The adds of our term. */
  readonly adds: Pick<ActivationAdds, 'add' | 'addWithCauses'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The versions that a cache must show to have seen every change that ours have seen; called when the initial list is
   * enqueued.
   * @default none
   */
  readonly changesSeen?: (scope: VersionScope) => readonly Cause[];
  /**
   * Whether we lead now, by the clock: after a pause of the process the signal may be late.
   * @default until the signal aborts
   */
  readonly mayEnqueue?: () => boolean;
  /** See {@link BuiltController.needsSync}. @default always */
  readonly needsSync?: (key: string) => boolean;
  /** Traces changes. @default none */
  readonly tracer?: Tracer;
}

/**
 * The leader's path from a change to the queue: first records the cause, then adds the key, so that the worker that
 * takes the key finds the cause.
 *
 * Informer handlers must not wait, hence the buffer. It also debounces: delayed changes of one key become one add when
 * they pause. That costs Redis nothing, and the leader's memory is good enough: failures are retried until they succeed
 * or the signal aborts, and the next leader adds every key again.
 */
export class Enqueuer {
  private readonly held = new Map<string, HeldAdd>();
  /**
   * Causes of adds that were not needed, by key: the key's next run must have seen these as well. Later every cache
   * shows them anyway.
   */
  private readonly unneeded: ExpiringMap<HeldAdd['causes']>;
  private readonly timers = new Map<string, TimerHandle & { readonly dueMs: number }>();
  private readonly flushing = new Set<string>();

  constructor(private readonly options: EnqueuerOptions) {
    this.unneeded = new ExpiringMap(() => options.clock.monotonicNow(), CACHES_SHOW_WITHIN_MS);
  }

  /** The function to pass to a controller's `watch`; a no-op once `signal` has aborted, which also drops held adds. */
  enqueueUntil(signal: AbortSignal): Enqueue {
    signal.addEventListener('abort', () => this.drop(), { once: true });
    return (request) => {
      if (signal.aborted) return;
      const key = keyOf(request.ref);
      const nowMs = this.options.clock.monotonicNow();
      const held = this.held.get(key);
      const add = merge(held, request, this.spanOf(request, held), nowMs);
      this.held.set(key, {
        ...add,
        causes: newestOfEach(add.causes, versionsOf(this.unseenCauses(request))),
      });
      this.flushWhenDue(key, signal);
    };
  }

  /**
   * An initial list names the reconciled objects with their own versions. Changes of others that were never enqueued,
   * because there was no leader, or it died or did not see them, have no event any more, nor have deletions. The syncs
   * of the keys must have seen them all, because a worker with older caches would find nothing to do.
   */
  private unseenCauses({ reason, ref: { namespace } }: EnqueueRequest): readonly Cause[] {
    return reason === 'initial-list' ? (this.options.changesSeen?.({ namespace }) ?? []) : [];
  }

  /** The span of a change; undefined for one that joins a held add, whose span covers it. */
  private spanOf(request: EnqueueRequest, held: HeldAdd | undefined): ChangeSpan | undefined {
    const { clock, controller, tracer } = this.options;
    if (!tracer || request.traceparent !== undefined) return undefined;
    if (held?.span?.isOpen && rankOf(request) >= rankOf(held.options)) {
      held.span.merge(request);
      return undefined;
    }
    held?.span?.end();
    return ChangeSpan.start(request, { clock, controller, tracer });
  }

  /** Number of keys remembered although they need no run now. */
  get unneededSize(): number {
    return this.unneeded.size;
  }

  /** Number of keys not in Redis yet. */
  get size(): number {
    return new Set([...this.held.keys(), ...this.flushing]).size;
  }

  private drop(): void {
    for (const timer of this.timers.values()) timer.cancel();
    this.timers.clear();
    for (const { span } of this.held.values()) span?.end();
    this.held.clear();
    this.unneeded.clear();
  }

  /** One timer per key: if it fires early because the burst continued, it is set again. */
  private flushWhenDue(key: string, signal: AbortSignal): void {
    const held = this.held.get(key);
    if (!held || signal.aborted || this.flushing.has(key)) return;
    const { dueMs } = held.burst;
    const timer = this.timers.get(key);
    if (timer && timer.dueMs <= dueMs) return;
    timer?.cancel();
    this.timers.delete(key);
    const waitMs = dueMs - this.options.clock.monotonicNow();
    if (waitMs <= 0) {
      void this.flush(key, signal);
      return;
    }
    const wake = (): void => {
      this.timers.delete(key);
      this.flushWhenDue(key, signal);
    };
    this.timers.set(key, { dueMs, ...this.options.clock.setTimeout(wake, waitMs) });
  }

  /** Writes the key's adds until none is due. Never rejects. */
  private async flush(key: string, signal: AbortSignal): Promise<void> {
    this.flushing.add(key);
    for (let failures = 0, next = this.take(key); next && !signal.aborted; next = this.take(key)) {
      try {
        this.assertLeading();
        await this.write(key, next);
        failures = 0;
      } catch (error) {
        this.held.set(key, mergeHeld(this.held.get(key), next));
        // The elector already reports that the lease has expired or is lost.
        if (!hasCode(error, 'LEASE_LOST') && !hasCode(error, 'SUPERSEDED'))
          this.options.logger.warn('could not add a key to the queue; trying again', { key, error });
        const backoffMs = doublingDelayMs(failures++, {
          firstMs: FIRST_BACKOFF_MS,
          longestMs: LONGEST_BACKOFF_MS,
        });
        await pause(this.options.clock, backoffMs, signal);
      }
    }
    this.flushing.delete(key);
    if (signal.aborted) this.held.delete(key);
    else this.flushWhenDue(key, signal);
  }

  private take(key: string): HeldAdd | undefined {
    const add = this.held.get(key);
    if (!add || add.burst.dueMs > this.options.clock.monotonicNow()) return undefined;
    this.held.delete(key);
    const isNeeded = !add.onlyIfNeeded || (this.options.needsSync?.(key) ?? true);
    add.span?.end({ isNeeded });
    const causes = newestOfEach(this.unneeded.get(key) ?? {}, add.causes);
    if (isNeeded) {
      this.unneeded.delete(key);
      return { ...add, causes };
    }
    this.unneeded.set(key, causes, CACHES_SHOW_WITHIN_MS);
    return undefined;
  }

  private assertLeading(): void {
    if (this.options.mayEnqueue?.() === false) throw new LeaseLostError('the lease has run out');
  }

  private async write(key: string, add: HeldAdd): Promise<void> {
    const { adds } = this.options;
    const { causes: versions, options } = add;
    if (Object.keys(versions).length === 0) return adds.add(key, options);
    return adds.addWithCauses(key, { versions, assertLeads: () => this.assertLeading() }, options);
  }
}

function merge(
  before: HeldAdd | undefined,
  request: EnqueueRequest,
  span: ChangeSpan | undefined,
  nowMs: number,
): HeldAdd {
  const {
    cause,
    delayMs = 0,
    mustHaveSeen = [],
    onlyIfNeeded = false,
    priority,
    reason,
    traceparent = span?.traceparent,
  } = request;
  const causes = versionsOf(cause ? [cause, ...mustHaveSeen] : mustHaveSeen);
  const burst = decideBurst(before?.burst, delayMs, nowMs);
  const options = { priority, reason, traceparent };
  return { ...mergeHeld(before, { causes, burst, options, span, onlyIfNeeded }), burst };
}

/** The newest of each resource. */
function versionsOf(causes: readonly Cause[]): ResourceVersions {
  return causes
    .map(({ resourceVersion, type }) => ({ [qualifiedResource(type)]: resourceVersion }))
    .reduce(newestOfEach, {});
}

/** The newest cause of each resource, the earlier due time, the highest priority with its reason and trace. */
function mergeHeld(before: HeldAdd | undefined, after: HeldAdd): HeldAdd {
  if (!before) return after;
  return {
    causes: newestOfEach(before.causes, after.causes),
    onlyIfNeeded: before.onlyIfNeeded && after.onlyIfNeeded,
    burst: before.burst.dueMs <= after.burst.dueMs ? before.burst : after.burst,
    options: mergeAdds(before.options, after.options),
    span: [before.span, after.span].find((span) => span?.isOpen),
  };
}
