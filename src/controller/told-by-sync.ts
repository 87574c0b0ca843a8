import type { Attributes, Span } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';
import { errorMessage } from '../errors/index.js';
import type { Decision } from './decision.js';

/**
 * What a reconciler tells of one sync, as attributes of the sync's span. Of a sync that looks again after a conflict they
 * tell of the last look; what was seen and decided before becomes an event of the span.
 */
export class ToldBySync {
  /** Of the look that is not over. */
  private told: Attributes[] = [];
  private hasDecided = false;

  constructor(private readonly sync: Span) {}

  found(describe: () => Attributes): void {
    if (!this.sync.isRecording()) return;
    this.closeLook();
    this.tell(describe());
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

  decided({ branch, changes, inputs, summary }: Decision, tookMs: number): void {
    if (!this.sync.isRecording()) return;
    this.closeLook();
    this.hasDecided = true;
    this.tell(inputs);
    this.tell({
      'rollkeeper.decision': branch,
      'rollkeeper.decision.changes': changes,
      'rollkeeper.decision.summary': summary,
      'rollkeeper.decide_ms': Math.round(tookMs * 1000) / 1000,
    });
  }

  private tell(attributes: Attributes): void {
    this.told.push(attributes);
    this.sync.setAttributes(attributes);
  }

  private closeLook(): void {
    if (!this.hasDecided) return;
    this.sync.addEvent('looked before', Object.assign({}, ...this.told) as Attributes);
    this.told = [];
    this.hasDecided = false;
  }
}
