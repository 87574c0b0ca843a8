import type { Clock, RandomSource } from '../clock/index.js';
import { FakeClock, SeededRandom } from '../clock/index.js';
import type {
  BuiltController,
  ControllerDefinition,
  Decision,
  EnqueueRequest,
  SyncObserver,
} from '../controller/index.js';
import type { EventNote } from '../events/index.js';
import { keyOf, parseKey } from '../kubernetes/index.js';
import { silentLogger } from '../logging/index.js';
import type { FakeCluster } from './fake-cluster.js';
import { FakeInformers } from './fake-informers.js';

export interface RunningController {
  readonly informers: FakeInformers;
  readonly built: BuiltController;
  /** Everything that was enqueued, in order. */
  readonly enqueued: readonly EnqueueRequest[];
  /** Events recorded, as `TYPE REASON MESSAGE`. */
  readonly events: readonly string[];
  /** What the syncs decided, in order. */
  readonly decisions: readonly Decision[];
  /** What the last sync of each key asked to be called again after. */
  readonly requeues: ReadonlyMap<string, number | undefined>;
  add(key: string): void;
  /** Works until no key is left; a key that fails is reported and not tried again. */
  drain(): Promise<{ syncs: number; errors: Map<string, unknown> }>;
  stopWatching(): void;
}

/** Runs one controller against a {@link FakeCluster} with a queue that is a set: no delays, no retries, one worker. */
export function runController(
  definition: ControllerDefinition,
  cluster: FakeCluster,
  options: { clock?: Clock; random?: RandomSource; informers?: FakeInformers } = {},
): RunningController {
  const informers = options.informers ?? new FakeInformers(cluster);
  const events: string[] = [];
  const enqueued: EnqueueRequest[] = [];
  const decisions: Decision[] = [];
  const requeues = new Map<string, number | undefined>();
  const keys = new Set<string>();
  const built = definition.build({
    informers,
    clock: options.clock ?? new FakeClock(),
    random: options.random ?? new SeededRandom(1),
    logger: silentLogger,
    events: {
      record: (_about, note: EventNote) => events.push(`${note.type} ${note.reason} ${note.message}`),
    },
  });
  const stopWatching = built.watch((request) => {
    enqueued.push(request);
    keys.add(keyOf(request.ref));
  });
  const signal = new AbortController().signal;
  const observer: SyncObserver = {
    found: (describe) => void describe(),
    decide: (work, describe) => {
      const decided = work();
      decisions.push(describe(decided));
      return decided;
    },
  };
  const intents = { current: undefined, store: () => Promise.resolve(), clear: () => undefined };
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
          const context = { client: cluster, signal, intents, observer };
          const result = await built.reconciler.reconcile({ key, ...parseKey(key) }, context);
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
