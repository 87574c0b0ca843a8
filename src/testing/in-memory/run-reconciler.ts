import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemRandom } from '@rollkeeper/machinery/clock';
import type { BuiltController, ControllerDefinition } from '@rollkeeper/runtime/controller';
import { buildController } from '@rollkeeper/runtime/controller';
import { decideUnobserved } from '../../runtime/operator/define/sync-steps.js';
import type { IntentStore, ReconcileResult } from '../../runtime/controller/reconciler.js';
import type { EventNote, EventRecorder } from '@rollkeeper/client/events/event-recorder';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { InMemoryApi } from './in-memory-api.js';
import { InMemoryInformers } from './in-memory-informers.js';

/** After this many runs it will not settle. */
const MAX_RUNS = 50;

/** A real controller on an in-memory API, one key at a time. */
export class ReconcilerRun {
  /** Every event so far. */
  readonly notes: EventNote[] = [];
  /** The requeue time of the last run. */
  requeueAfterMs: number | undefined;
  /** The error of the last run to rest, if it failed. */
  error: unknown;
  private readonly informers: InMemoryInformers;
  private readonly controller: BuiltController;
  private readonly intents = new InMemoryIntents();

  constructor(
    definition: ControllerDefinition,
    private readonly api: InMemoryApi,
    clock: Clock,
  ) {
    this.informers = new InMemoryInformers(api);
    const events: EventRecorder = { record: (_about, note) => void this.notes.push(note) };
    const random = new SystemRandom();
    this.controller = buildController(definition, {
      informers: this.informers,
      discovery: this.api,
      events,
      clock,
      random,
      logger: silentLogger,
    });
  }

  /** One run on caches that show the current API. */
  async once(ref: ObjectRef): Promise<ReconcileResult> {
    this.informers.refresh();
    const { signal } = new AbortController();
    const request = { ...ref, key: keyOf(ref) };
    const before = this.api.writes.length + this.notes.length;
    const wasNeeded = this.controller.needsSync?.(request.key) ?? true;
    const context = { signal, client: this.api, intents: this.intents };
    const result = await this.controller.sync(request, context, decideUnobserved);
    this.requeueAfterMs = result.requeueAfterMs;
    if (!wasNeeded && this.api.writes.length + this.notes.length > before)
      throw new Error(`${request.key} was said to need no sync, and the sync did something`);
    return result;
  }

  /**
   * Runs until one writes nothing. Returns the number of runs, including that one.
   * @param options whether to continue after a failed run, as a queue does, and keep the last error
   */
  async toRest(ref: ObjectRef, options: { readonly goesOn?: boolean } = {}): Promise<number> {
    for (let runs = 1; runs <= MAX_RUNS; runs++) {
      const before = this.api.writes.length;
      this.error = undefined;
      this.requeueAfterMs = undefined;
      await this.once(ref).catch((error: unknown) => {
        if (!options.goesOn) throw error;
        this.error = error;
      });
      if (this.api.writes.length === before) return runs;
    }
    throw new Error(`did not come to rest in ${MAX_RUNS} runs`);
  }
}

/** The requeue time in the recordings' form. */
export function wholeSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.floor(ms / 1000);
}

class InMemoryIntents implements IntentStore {
  current: unknown;

  async store(intents: unknown): Promise<void> {
    this.current = structuredClone(intents);
  }

  clear(): void {
    this.current = undefined;
  }

  /** There is one cache here, and it is never behind. */
  settledAt(): void {}
}
