import type { Tracer } from '@opentelemetry/api';
import type { ActorRuntime } from '../actor/actor.js';
import type { Clock } from '../clock/index.js';
import { keyOf, newerResourceVersion, qualifiedResource } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import type { AddOptions, Priority, WorkQueue } from '../work-queue/work-queue.js';
import { MAX_TRACE_LINKS } from '../work-queue/work-queue.js';
import { traceChange } from './change-span.js';
import type { Enqueue, EnqueueRequest } from './controller-definition.js';

/** What is still to be written to Redis for one key: several changes merged. */
interface PendingAdd {
  readonly causes: Map<string, string>;
  options: AddOptions;
  delayMs: number;
}

const PRIORITY_ORDER: readonly Priority[] = ['low', 'normal', 'high'];
const FIRST_BACKOFF_MS = 20;
const LONGEST_BACKOFF_MS = 1000;

export interface EnqueuerOptions {
  readonly controller: string;
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  readonly actors: Pick<ActorRuntime, 'recordCause'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Spans what is seen. @default none */
  readonly tracer?: Tracer;
}

/**
 * The leader's way from a change to the queue: first the cause is recorded, then the key is added, so that
 * whoever takes the key finds the cause. Handlers of informers must not wait, hence the buffer: changes of one key
 * that arrive while Redis is busy become one add, and a failure is tried again until it works or the signal
 * aborts (the next leader then adds every key anew).
 */
export class Enqueuer {
  private readonly pending = new Map<string, PendingAdd>();
  private readonly flushing = new Set<string>();

  constructor(private readonly options: EnqueuerOptions) {}

  /** The function to hand to a controller's `watch`; does nothing once `signal` has aborted. */
  enqueueUntil(signal: AbortSignal): Enqueue {
    return (request) => {
      if (signal.aborted) return;
      const key = keyOf(request.ref);
      this.pending.set(key, merge(this.pending.get(key), this.traced(request)));
      if (!this.flushing.has(key)) void this.flush(key, signal);
    };
  }

  private traced(request: EnqueueRequest): EnqueueRequest {
    const { clock, controller, tracer } = this.options;
    if (!tracer || request.traceparent !== undefined) return request;
    return { ...request, traceparent: traceChange(request, { clock, controller, tracer }) };
  }

  /** How many keys are not in Redis yet. */
  get size(): number {
    return this.pending.size + this.flushing.size;
  }

  /** Writes the key's pending adds until none is left. Never rejects. */
  private async flush(key: string, signal: AbortSignal): Promise<void> {
    this.flushing.add(key);
    for (let failures = 0, next = this.take(key); next && !signal.aborted; next = this.take(key)) {
      try {
        await this.write(key, next);
        failures = 0;
      } catch (error) {
        this.pending.set(key, mergeAdds(this.pending.get(key), next));
        this.options.logger.warn('could not add a key to the queue; trying again', { key, error });
        const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures++, LONGEST_BACKOFF_MS);
        await this.options.clock.sleep(backoffMs, signal).catch(() => undefined);
      }
    }
    this.flushing.delete(key);
    if (signal.aborted) this.pending.delete(key);
  }

  private take(key: string): PendingAdd | undefined {
    const add = this.pending.get(key);
    this.pending.delete(key);
    return add;
  }

  private async write(key: string, add: PendingAdd): Promise<void> {
    const { actors, controller, queue } = this.options;
    await Promise.all(
      [...add.causes].map(([resource, version]) => actors.recordCause(controller, key, resource, version)),
    );
    await (add.delayMs > 0 ? queue.addAfter(key, add.delayMs, add.options) : queue.add(key, add.options));
  }
}

function merge(before: PendingAdd | undefined, request: EnqueueRequest): PendingAdd {
  const { cause, delayMs = 0, priority, reason, traceparent } = request;
  const causes = new Map<string, string>();
  if (cause) causes.set(qualifiedResource(cause.type), cause.resourceVersion);
  return mergeAdds(before, { causes, delayMs, options: { priority, reason, traceparent } });
}

/** The newest cause of each resource, the shortest delay, the highest priority with its reason and trace. */
function mergeAdds(before: PendingAdd | undefined, after: PendingAdd): PendingAdd {
  if (!before) return after;
  const causes = new Map(before.causes);
  for (const [resource, version] of after.causes)
    causes.set(resource, newerResourceVersion(causes.get(resource), version));
  const [told, other] =
    rank(after.options) > rank(before.options)
      ? [after.options, before.options]
      : [before.options, after.options];
  return {
    causes,
    delayMs: Math.min(before.delayMs, after.delayMs),
    options: { ...told, ...mergeTraces(told, other) },
  };
}

function rank(options: AddOptions): number {
  return PRIORITY_ORDER.indexOf(options.priority ?? 'normal');
}

/** The queue keeps the same rule between adds: one trace goes on, the others are linked. */
function mergeTraces(told: AddOptions, other: AddOptions): Pick<AddOptions, 'traceparent' | 'links'> {
  const all = [told.traceparent, ...(told.links ?? []), other.traceparent, ...(other.links ?? [])];
  const [traceparent, ...links] = new Set(all.filter((text) => text !== undefined));
  return links.length === 0 ? { traceparent } : { traceparent, links: links.slice(0, MAX_TRACE_LINKS) };
}
