import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import { SpanKind, trace } from '@opentelemetry/api';
import type { Clock } from '../clock/index.js';
import { errorMessage } from '../errors/index.js';
import type { Logger } from '../logging/index.js';
import { contextOfTraceparent, linksTo } from '../trace-context/index.js';
import type { WorkItem } from '../work-queue/work-queue.js';
import type { Outcome } from './decide-outcome.js';
import type { SyncObserver } from './decision.js';
import { ToldBySync } from './told-by-sync.js';

export interface SyncSpansOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly controller: string;
  readonly replica: string;
}

/** Makes the spans of a key's run: `queue`, which it has behind it, and `sync` below it. */
export class SyncSpans {
  constructor(private readonly options: SyncSpansOptions) {}

  /** Runs `work` inside the run's `sync` span; the span ends with it. */
  async run<T>(item: WorkItem, work: (span: Span) => Promise<T>): Promise<T> {
    const { controller, tracer } = this.options;
    const parent = this.traceQueue(item);
    return tracer.startActiveSpan(`sync ${controller}`, { kind: SpanKind.CONSUMER }, parent, async (span) => {
      if (span.isRecording()) span.setAttributes(this.attributesOf(item));
      try {
        return await work(span);
      } finally {
        span.end();
      }
    });
  }

  /** What reconcilers tell becomes attributes of the sync, and one info line for a decision that changes something. */
  observer(item: WorkItem, sync: Span, logger: Logger): SyncObserver {
    const { clock, controller } = this.options;
    const told = new ToldBySync(sync);
    return {
      found: (describe) => told.found(describe),
      decide: (work, describe) => {
        const startedMs = clock.monotonicNow();
        const decided = told.deciding(work);
        const tookMs = clock.monotonicNow() - startedMs;
        const decision = describe(decided);
        told.decided(decision, tookMs);
        const fields = { controller, key: item.key, branch: decision.branch, ...decision.inputs };
        if (!decision.changes) logger.debug('decided to leave everything as it is', fields);
        else logger[decision.routine ? 'debug' : 'info'](`decided: ${decision.summary}`, fields);
        return decided;
      },
    };
  }

  /** The time that the key has waited, as a span that is over; all of it is known only now. */
  private traceQueue({ links, priority, readySinceMs, retries, traceparent }: WorkItem) {
    const { clock, tracer } = this.options;
    const nowMs = clock.now();
    const startTime = Math.min(readySinceMs, nowMs);
    const parent = contextOfTraceparent(traceparent);
    const span = tracer.startSpan('queue', { startTime }, parent);
    if (span.isRecording()) {
      span.setAttributes({
        'rollkeeper.queue.wait_ms': nowMs - startTime,
        'rollkeeper.priority': priority,
        'rollkeeper.attempt': retries + 1,
      });
      if (links) span.addLinks(linksTo(links));
      span.end(nowMs);
    }
    return trace.setSpan(parent, span);
  }

  private attributesOf(item: WorkItem): Attributes {
    return {
      'rollkeeper.controller': this.options.controller,
      'rollkeeper.key': item.key,
      'rollkeeper.replica': this.options.replica,
      'rollkeeper.reason': item.reason,
      'rollkeeper.retries': item.retries,
    };
  }
}

/** What becomes of the key: come back when, and why. */
export function outcomeAttributes(outcome: Outcome): Attributes {
  const attributes: Attributes = { 'rollkeeper.outcome': outcome.action };
  if ('delayMs' in outcome) attributes['rollkeeper.delay_ms'] = outcome.delayMs;
  if ('why' in outcome) attributes['rollkeeper.why'] = outcome.why;
  if ('error' in outcome) attributes['rollkeeper.error'] = errorMessage(outcome.error);
  return attributes;
}
