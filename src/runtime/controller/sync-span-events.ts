import type { Attributes, Span } from '@opentelemetry/api';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Decision } from './reconciler.js';

/**
 * Reads and decisions of a sync are events of its span. A sync that reads again after a conflict repeats them. They are
 * events because V8 turns an object with more than 19 computed attributes into a hash table, which would double the
 * cost of the span.
 */
const EVENTS = {
  /** The resourceVersions that the caches show. */
  read: 'read caches',
  /** Inputs, branch and outcome of a decision. */
  decided: 'decided',
} as const;

/** Records in the current sync's span what the caches showed. Cheap without tracing. */
export function noteCachesRead(describe: () => Attributes): void {
  const sync = trace.getActiveSpan();
  if (sync?.isRecording()) sync.addEvent(EVENTS.read, describe());
}

/** The last branch is also an attribute, for searching. Most syncs change nothing and record no summary. */
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

/** Records a failed decision in the span, even if the caller handles it. */
export function noteFailedDecision(sync: Span, error: unknown): void {
  sync.setAttribute('rollkeeper.failed_step', 'decide');
  sync.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
}
