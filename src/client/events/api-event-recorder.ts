import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { ApiClient } from '../api-client/api-client.js';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { IllegalStateError, ShutdownError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { EventCorrelator } from './event-correlator.js';
import type { EventLedger } from './event-ledger.js';
import type { EventSource } from './event-object.js';
import { EventQueue } from './event-queue.js';
import { EventNames } from './event-names.js';
import type { EventNote, EventRecorder, EventRecorderMetrics } from './event-recorder.js';
import { noEventRecorderMetrics } from './event-recorder.js';
import type { CompiledEventRecorderOptions, EventRecorderOptions } from './event-recorder.options.js';
import { compileEventRecorderOptions } from './event-recorder.options.js';
import type { WriteLimits } from './event-writer.js';
import { EventWriter } from './event-writer.js';

export interface ApiEventRecorderDependencies extends EventSource {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Shared with the recorders of other processes, which then count equal events together. @default none */
  readonly ledger?: EventLedger;
  /** @default none */
  readonly metrics?: EventRecorderMetrics;
  readonly options?: EventRecorderOptions;
}

/**
 * Writes events to the API in the background: a few at once, those about one object in order. Events recorded before
 * `run` wait for it. Best effort: when too many wait, the oldest is dropped with a warning.
 */
export class ApiEventRecorder implements EventRecorder {
  private readonly options: CompiledEventRecorderOptions;
  private readonly correlator: EventCorrelator;
  private readonly queue: EventQueue;
  private readonly writer: EventWriter;
  private readonly metrics: EventRecorderMetrics;
  /** Each wakes one idle writer. */
  private readonly idle: (() => void)[] = [];
  private hasRun = false;
  private dropped = 0;

  constructor(private readonly deps: ApiEventRecorderDependencies) {
    this.options = compileEventRecorderOptions(deps.options);
    const { component, host, clock, random } = deps;
    const names = new EventNames(clock, random);
    this.correlator = new EventCorrelator({ component, host }, clock, names, this.options);
    this.queue = new EventQueue(this.options.maxQueued);
    this.writer = new EventWriter(deps, this.correlator, this.options);
    this.metrics = deps.metrics ?? noEventRecorderMetrics;
  }

  /** Events dropped so far because too many were waiting. */
  get droppedEvents(): number {
    return this.dropped;
  }

  record(about: DeepReadonly<KubernetesObject>, note: EventNote): void {
    this.recordAs(this.deps.component, about, note);
  }

  /** The same recorder for another component: each controller has its own name, as in Kubernetes. */
  as(component: string): EventRecorder {
    return { record: (about, note) => this.recordAs(component, about, note) };
  }

  private recordAs(component: string, about: DeepReadonly<KubernetesObject>, note: EventNote): void {
    const series = this.correlator.observe(about, note, component);
    if (!series) return;
    if (this.queue.add(series).dropped) this.noteDropped();
    this.idle.pop()?.();
  }

  /**
   * Writes until aborted, then writes what is waiting for up to `flushTimeoutMs`, one attempt each, and resolves.
   * @throws IllegalStateError on a second call
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the event recorder has been run before');
    this.hasRun = true;
    const giveUp = new AbortController();
    const deadline = this.abortAfterFlushTimeout(signal, giveUp);
    const limits = { stopping: signal, giveUp: giveUp.signal };
    try {
      const writers = Array.from({ length: this.options.maxConcurrentWrites }, () => this.writeOn(limits));
      await Promise.all(writers);
    } finally {
      deadline.cancel();
    }
    if (this.queue.size > 0) {
      this.deps.logger.warn('events were not written before the stop', { events: this.queue.size });
    }
  }

  private abortAfterFlushTimeout(signal: AbortSignal, giveUp: AbortController): { cancel(): void } {
    let timer: { cancel(): void } | undefined;
    const stopListening = onAbort(signal, () => {
      const abort = (): void => giveUp.abort(new ShutdownError('the time to flush events is over'));
      timer = this.deps.clock.setTimeout(abort, this.options.flushTimeoutMs);
      for (const wake of this.idle.splice(0)) wake();
    });
    return {
      cancel: () => {
        stopListening();
        timer?.cancel();
      },
    };
  }

  /** One writer: takes the next event until nothing is left after the stop, or the flush timeout. */
  private async writeOn(limits: WriteLimits): Promise<void> {
    while (!limits.giveUp.aborted) {
      const series = this.queue.take();
      if (series) {
        const written = await this.writer.write(series, limits);
        this.queue.done(series);
        this.metrics.ended(written ? 'written' : 'failed');
      } else if (limits.stopping.aborted) return;
      else await new Promise<void>((resolve) => this.idle.push(resolve));
    }
  }

  private noteDropped(): void {
    this.dropped += 1;
    this.metrics.ended('dropped');
    // The first, then every 100th: a flood of events must not become a flood of log lines.
    if (this.dropped % 100 !== 1) return;
    this.deps.logger.warn('too many events are waiting to be written; dropping the oldest', {
      dropped: this.dropped,
    });
  }
}
