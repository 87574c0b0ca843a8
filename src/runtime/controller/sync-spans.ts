import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import { SpanKind, trace } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { contextOfTraceparent, linksTo } from '@rollkeeper/machinery/trace-context';
import type { WorkItem } from '../work-queue/work-queue.js';
import type { ActivationOutcome } from '../activation/activations.js';
import type { Decision } from './reconciler.js';
import { noteDecision, noteFailedDecision } from './sync-span-events.js';

interface SyncSpansOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly controller: string;
  readonly replica: string;
}

/**
 * A shorter wait in the queue is visible as the gap between `change seen` and `sync`, and as an attribute of `sync`: a
 * separate span would cost as much as any other and show nothing more. People notice waits from about this length.
 */
const WAIT_WORTH_A_SPAN_MS = 100;

/** Creates the spans of a key's run: `sync`, below a `queue` span if the key had to wait. */
export class SyncSpans {
  constructor(private readonly options: SyncSpansOptions) {}

  /** Runs `work` inside the run's `sync` span; the span ends with it. */
  async run<T>(item: WorkItem, work: (span: Span) => Promise<T>): Promise<T> {
    const { controller, tracer } = this.options;
    const wait = this.waitOf(item);
    const parent = this.traceQueue(item, wait);
    return tracer.startActiveSpan(`sync ${controller}`, { kind: SpanKind.CONSUMER }, parent, async (span) => {
      if (span.isRecording()) {
        span.setAttributes(this.attributesOf(item, wait));
        if (item.links) span.addLinks(linksTo(item.links));
      }
      try {
        return await work(span);
      } finally {
        span.end();
      }
    });
  }

  /** Lets a sync decide: noted in its span, and in one info line where the decision changes something. */
  decide<D extends { readonly decision: Decision }>(
    decide: () => D,
    key: string,
    sync: Span,
    logger: Logger,
  ): D {
    const { clock, controller } = this.options;
    const startedMs = clock.monotonicNow();
    const decided = tryDecide(decide, sync);
    const { decision } = decided;
    noteDecision(sync, decision, clock.monotonicNow() - startedMs);
    const fields = { controller, key, branch: decision.branch, ...decision.inputs };
    if (decision.afterwards) logger.debug(`wrote: ${decision.summary}`, fields);
    else if (!decision.changes) logger.debug('decided to leave everything as it is', fields);
    else logger[decision.routine ? 'debug' : 'info'](`decided: ${decision.summary}`, fields);
    return decided;
  }

  private waitOf({ readySinceMs }: WorkItem): Wait {
    const untilMs = this.options.clock.now();
    return { sinceMs: Math.min(readySinceMs, untilMs), untilMs };
  }

  /** The parent of the sync: the wait as an already ended span, since its length is only known now; or the change. */
  private traceQueue(item: WorkItem, wait: Wait): Context {
    const parent = contextOfTraceparent(item.traceparent);
    if (wait.untilMs - wait.sinceMs < WAIT_WORTH_A_SPAN_MS) return parent;
    const span = this.options.tracer.startSpan('queue', { startTime: wait.sinceMs }, parent);
    if (span.isRecording()) {
      span.setAttributes(waitAttributes(item, wait));
      span.end(wait.untilMs);
    }
    return trace.setSpan(parent, span);
  }

  private attributesOf(item: WorkItem, wait: Wait): Attributes {
    return {
      'rollkeeper.controller': this.options.controller,
      'rollkeeper.key': item.key,
      'rollkeeper.replica': this.options.replica,
      'rollkeeper.reason': item.reason,
      ...waitAttributes(item, wait),
    };
  }
}

function tryDecide<D>(decide: () => D, sync: Span): D {
  try {
    return decide();
  } catch (error) {
    noteFailedDecision(sync, error);
    throw error;
  }
}

/** The time during which the key was ready but not being processed, epoch milliseconds. */
interface Wait {
  readonly sinceMs: number;
  readonly untilMs: number;
}

function waitAttributes({ priority, retries }: WorkItem, { sinceMs, untilMs }: Wait): Attributes {
  return {
    'rollkeeper.queue.wait_ms': untilMs - sinceMs,
    'rollkeeper.priority': priority,
    'rollkeeper.attempt': retries + 1,
  };
}

/** When the key comes back, and why. */
export function outcomeAttributes(outcome: ActivationOutcome): Attributes {
  const attributes: Attributes = { 'rollkeeper.outcome': outcome.action };
  if ('delayMs' in outcome) attributes['rollkeeper.delay_ms'] = outcome.delayMs;
  if ('why' in outcome) attributes['rollkeeper.why'] = outcome.why;
  if ('error' in outcome) attributes['rollkeeper.error'] = errorMessage(outcome.error);
  return attributes;
}
