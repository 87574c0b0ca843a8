import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { FakeClock, SeededRandom } from '@rollkeeper/machinery/clock';
import type {
  BuiltController,
  ControllerDefinition,
  Decision,
  EnqueueRequest,
} from '@rollkeeper/runtime/controller';
import { buildController } from '@rollkeeper/runtime/controller';
import type { EventNote } from '@rollkeeper/client/events';
import { keyOf, parseKey } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { FakeCluster } from './fake-cluster.js';
import { FakeInformers } from './fake-informers.js';

/** A controller without caches, queue and API, and what it has done. */
export interface RunningController {
  readonly informers: FakeInformers;
  readonly built: BuiltController;
  /** All enqueued requests, in order. */
  readonly enqueued: readonly EnqueueRequest[];
  /** Events recorded, as `TYPE REASON MESSAGE`. */
  readonly events: readonly string[];
  /** The decisions of the syncs, in order. */
  readonly decisions: readonly Decision[];
  /** The requeue delay of each key's last sync. */
  readonly requeues: ReadonlyMap<string, number | undefined>;
  add(key: string): void;
  /** Runs until no key is left; a failed key is reported and not retried. */
  drain(): Promise<{ syncs: number; errors: Map<string, unknown> }>;
  stopWatching(): void;
}

interface RunOptions {
  readonly clock?: Clock;
  readonly random?: RandomSource;
  readonly informers?: FakeInformers;
}

/** Runs one controller against a {@link FakeCluster} with a queue that is a set: no delays, no retries, one worker. */
export function runController(
  definition: ControllerDefinition,
  cluster: FakeCluster,
  options: RunOptions = {},
): RunningController {
  return watching(build(definition, cluster, options));
}

/** A running controller with its leading work. */
export interface LeadingController extends RunningController {
  readonly clock: FakeClock;
  /** As when the lease is lost. */
  stop(): Promise<void>;
}

/** As {@link runController}, with the controller's leading work: watches once that is ready. */
export async function runLeading(
  definition: ControllerDefinition,
  cluster: FakeCluster,
  options: Omit<RunOptions, 'clock'> = {},
): Promise<LeadingController> {
  const clock = new FakeClock();
  const sketch = build(definition, cluster, { ...options, clock });
  const stopper = new AbortController();
  const leading = sketch.built.leading?.run(stopper.signal);
  const ready = sketch.built.leading?.waitUntilReady(stopper.signal);
  // Does not wait any longer for a hanging type.
  await clock.advance(0);
  await clock.advance(30_000);
  await ready;
  const stop = async (): Promise<void> => {
    stopper.abort();
    await leading;
  };
  return { ...watching(sketch), clock, stop };
}

interface Sketch {
  readonly cluster: FakeCluster;
  readonly informers: FakeInformers;
  readonly built: BuiltController;
  readonly events: readonly string[];
}

function build(definition: ControllerDefinition, cluster: FakeCluster, options: RunOptions): Sketch {
  const informers = options.informers ?? new FakeInformers(cluster);
  const events: string[] = [];
  const built = buildController(definition, {
    informers,
    discovery: cluster,
    clock: options.clock ?? new FakeClock(),
    random: options.random ?? new SeededRandom(1),
    logger: silentLogger,
    events: {
      record: (_about, note: EventNote) => events.push(`${note.type} ${note.reason} ${note.message}`),
    },
  });
  return { cluster, informers, built, events };
}

function watching({ built, cluster, events, informers }: Sketch): RunningController {
  const enqueued: EnqueueRequest[] = [];
  const decisions: Decision[] = [];
  const requeues = new Map<string, number | undefined>();
  const keys = new Set<string>();
  const stopWatching = built.watch((request) => {
    enqueued.push(request);
    keys.add(keyOf(request.ref));
  });
  const signal = new AbortController().signal;
  const intents = {
    current: undefined,
    store: () => Promise.resolve(),
    clear: () => undefined,
    settledAt: () => undefined,
  };
  return {
    informers,
    built,
    enqueued,
    events,
    decisions,
    requeues,
    add: (key) => void keys.add(key),
    stopWatching,
    async drain() {
      const errors = new Map<string, unknown>();
      let syncs = 0;
      for (let key = first(keys); key !== undefined; key = first(keys)) {
        keys.delete(key);
        if (++syncs > 10_000) throw new Error(`no rest after ${syncs} syncs`);
        try {
          const access = { client: cluster, signal, intents };
          const result = await built.sync({ key, ...parseKey(key) }, access, (decide) => {
            const decided = decide();
            decisions.push(decided.decision);
            return decided;
          });
          requeues.set(key, result.requeueAfterMs);
        } catch (error) {
          errors.set(key, error);
        }
      }
      return { syncs, errors };
    },
  };
}

function first(keys: ReadonlySet<string>): string | undefined {
  for (const key of keys) return key;
  return undefined;
}
