import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { Event } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { ApiEventRecorder } from './api-event-recorder.js';
import type { EventLedger } from './event-ledger.js';
import type { EventObject } from './event-object.js';
import type { EventNote } from './event-recorder.js';
import type { EventRecorderOptions } from './event-recorder.options.js';

export const about = {
  ...aReplicaSet(),
  metadata: { ...aReplicaSet().metadata, uid: 'uid-1', resourceVersion: '7' },
};

export function note(message = 'Created pod: a', reason = 'SuccessfulCreate'): EventNote {
  return { type: 'Normal', reason, message };
}

/** The parts that several recorders share. */
interface Shared {
  readonly clock: FakeClock;
  readonly cluster: FakeCluster;
  readonly ledger: EventLedger;
  /** The seed of the names that this one makes up. */
  readonly seed: number;
}

export function aRecorder(options: EventRecorderOptions = {}, shared: Partial<Shared> = {}) {
  const { clock = new FakeClock(), ledger, seed = 1 } = shared;
  const { cluster = new FakeCluster(clock) } = shared;
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const recorder = new ApiEventRecorder({
    client: cluster,
    component: 'replicaset-controller',
    clock,
    random: new SeededRandom(seed),
    ledger,
    logger,
    options,
  });
  const stop = new AbortController();
  const start = (): Promise<void> => recorder.run(stop.signal);
  const events = (): EventObject[] => cluster.all<EventObject>(Event);
  return { clock, cluster, warnings, recorder, stop, start, events };
}
