import type { Attributes, Span } from '@opentelemetry/api';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Decision } from './reconciler.js';

/**
 * What a sync reads and decides are events of its span. A sync that looks again after a conflict has them once more.
 * Events, since all of it as attributes of the span would be more than V8 keeps in an object without turning it into a
 * hash table (19, where they are set by computed names), which makes such a span cost up to twice as much.
 */
const EVENTS = {
  /** What the caches show, at which resourceVersion. */
  read: 'read caches',
  /** Inputs, branch and outcome of a decision. */
  decided: 'decided',
} as const;

/** Notes in the span of the sync that runs what the caches have shown it. Cheap where nobody traces. */
export function noteCachesRead(describe: () => Attributes): void {
  const sync = trace.getActiveSpan();
  if (sync?.isRecording()) sync.addEvent(EVENTS.read, describe());
}

/** The branch that was taken last is an attribute as well, to find syncs by. Most syncs change nothing, and do not say so. */
export function noteDecision(
  sync: Span,
  { branch, changes, inputs, summary }: Decision,
  tookMs: number,
): void {
  if (!sync.isRecording()) return;
  sync.setAttribute('rollkeeper.decision', branch);
  const attributes: Attributes = { 'rollkeeper.decision': branch, ...inputs };
  if (summary !== '') attributes['rollkeeper.decision.summary'] = summary;
  if (changes) attributes['rollkeeper.decision.changes'] = true;
  attributes['rollkeeper.decide_ms'] = Math.round(tookMs * 1000) / 1000;
  sync.addEvent(EVENTS.decided, attributes);
}

/** That deciding failed is seen in the span although whoever let it decide may cope with that. */
export function noteFailedDecision(sync: Span, error: unknown): void {
  sync.setAttribute('rollkeeper.failed_step', 'decide');
  sync.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
}
