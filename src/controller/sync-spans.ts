import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import type { Clock } from '../clock/index.js';
import { errorMessage } from '../errors/index.js';
import type { Logger } from '../logging/index.js';
import { contextOfTraceparent, linksTo } from '../trace-context/index.js';
import type { WorkItem } from '../work-queue/work-queue.js';
import type { Outcome } from './decide-outcome.js';
import type { Decision, SyncObserver } from './decision.js';

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
    const options = { kind: SpanKind.CONSUMER, attributes: this.attributesOf(item) };
    return tracer.startActiveSpan(`sync ${controller}`, options, parent, async (span) => {
      try {
        return await work(span);
      } finally {
        span.end();
      }
    });
  }

  /** What reconcilers tell becomes child spans, attributes, and one info line for a decision that changes something. */
  observer(item: WorkItem, sync: Span, logger: Logger): SyncObserver {
    const { controller, tracer } = this.options;
    let deciding: Attributes = {};
    return {
      step: (name, work, describe) => {
        const span = tracer.startSpan(name);
        return context.with(trace.setSpan(context.active(), span), () => {
          try {
            const result = work();
            if (describe && span.isRecording()) span.setAttributes(describe(result));
            return result;
          } catch (error) {
            span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
            throw error;
          } finally {
            span.setAttributes(deciding);
            deciding = {};
            span.end();
          }
        });
      },
      decided: (decide) => {
        const decision = decide();
        deciding = decisionAttributes(decision);
        sync.setAttribute('rollkeeper.decision', decision.branch);
        const fields = { controller, key: item.key, branch: decision.branch, ...decision.inputs };
        if (!decision.changes) logger.debug('decided to leave everything as it is', fields);
        else logger[decision.routine ? 'debug' : 'info'](`decided: ${decision.summary}`, fields);
      },
    };
  }

  /** The time that the key has waited, as a span that is over; all of it is known only now. */
  private traceQueue({ links, priority, readySinceMs, retries, traceparent }: WorkItem) {
    const { clock, tracer } = this.options;
    const nowMs = clock.now();
    const startTime = Math.min(readySinceMs, nowMs);
    const attributes = {
      'rollkeeper.queue.wait_ms': nowMs - startTime,
      'rollkeeper.priority': priority,
      'rollkeeper.attempt': retries + 1,
    };
    const parent = contextOfTraceparent(traceparent);
    const span = tracer.startSpan('queue', { startTime, attributes, links: linksTo(links) }, parent);
    span.end(nowMs);
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

/** What becomes of the key, as a span around telling the queue. */
export async function traceRequeue(
  tracer: Tracer,
  outcome: Outcome,
  tell: () => Promise<void>,
): Promise<void> {
  if (outcome.action === 'done') return tell();
  const attributes: Attributes = {
    'rollkeeper.outcome': outcome.action,
    ...('delayMs' in outcome ? { 'rollkeeper.delay_ms': outcome.delayMs } : {}),
    ...('why' in outcome ? { 'rollkeeper.why': outcome.why } : {}),
    ...('error' in outcome ? { 'rollkeeper.error': errorMessage(outcome.error) } : {}),
  };
  await tracer.startActiveSpan('requeue', { attributes }, async (span) => {
    try {
      await tell();
    } finally {
      span.end();
    }
  });
}

function decisionAttributes({ branch, changes, inputs, summary }: Decision): Attributes {
  return {
    ...inputs,
    'rollkeeper.decision': branch,
    'rollkeeper.decision.changes': changes,
    'rollkeeper.decision.summary': summary,
  };
}
