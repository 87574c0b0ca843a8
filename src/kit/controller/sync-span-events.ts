import type { Attributes, Span } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';
import { errorMessage } from '../../base/errors/index.js';
import type { Decision } from './decision.js';

/** The events of a sync's span that are not writes. */
const EVENTS = {
  /** What the caches show, at which resourceVersion. */
  read: 'read caches',
  /** Inputs, branch and outcome of a decision. */
  decided: 'decided',
} as const;

/**
 * What a reconciler tells of one sync, as events of the sync's span. A sync that looks again after a conflict has them once
 * more. Events, since all of it as attributes of the span would be more than V8 keeps in an object without turning it into a
 * hash table (19, where they are set by computed names), which makes such a span cost up to twice as much.
 */
export class SyncSpanEvents {
  constructor(private readonly sync: Span) {}

  found(describe: () => Attributes): void {
    if (this.sync.isRecording()) this.sync.addEvent(EVENTS.read, describe());
  }

  /** Runs `work`; that it failed is seen although whoever called it may cope with that. */
  deciding<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.sync.setAttribute('rollkeeper.failed_step', 'decide');
      this.sync.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
      throw error;
    }
  }

  /** The branch that was taken last is an attribute as well, to find syncs by. Most syncs change nothing, and do not say so. */
  decided({ branch, changes, inputs, summary }: Decision, tookMs: number): void {
    if (!this.sync.isRecording()) return;
    this.sync.setAttribute('rollkeeper.decision', branch);
    const attributes: Attributes = { 'rollkeeper.decision': branch, ...inputs };
    if (summary !== '') attributes['rollkeeper.decision.summary'] = summary;
    if (changes) attributes['rollkeeper.decision.changes'] = true;
    attributes['rollkeeper.decide_ms'] = Math.round(tookMs * 1000) / 1000;
    this.sync.addEvent(EVENTS.decided, attributes);
  }
}
