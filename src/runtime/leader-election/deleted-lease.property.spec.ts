import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { Lease } from '../../machinery/kubernetes/index.js';
import { WatchableCluster } from '../../testing/fake-list-watch.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { LeaderElector } from './leader-elector.js';
import type { LeaseClient } from './lease-observer.js';
import { LeaseResourceLock } from './lease-resource-lock.js';

const OPTIONS = { leaseDurationMs: 2500, renewDeadlineMs: 1800, retryPeriodMs: 400 };
/** Each has seen the Lease since the last change: the retry period with its jitter, and some. */
const ALL_HAVE_SEEN_MS = 1200;
/** The former holder creates the Lease again by its next renewal, or the Lease expires. */
const LED_AGAIN_MS = 2500 + 1800 + 880;

/** The more distant a process is, the later it learns of the deletion, and the later its requests arrive. */
function farAway(cluster: WatchableCluster, clock: FakeClock, delayMs: number): LeaseClient {
  const later = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (delayMs > 0) await clock.sleep(delayMs);
    return ask();
  };
  return {
    get: (...of) => later(() => cluster.get(...of)),
    list: (...of) => later(() => cluster.list(...of)),
    create: (...of) => later(() => cluster.create(...of)),
    update: (...of) => later(() => cluster.update(...of)),
    async *watch(...of) {
      for await (const event of cluster.watch<never>(...of)) yield await later(async () => event);
    },
  };
}

class Process {
  readonly elector: LeaderElector;
  readonly terms: number[] = [];
  private readonly stop = new AbortController();
  private readonly lock: LeaseResourceLock;
  private readonly running: Promise<void>;

  constructor(cluster: WatchableCluster, clock: FakeClock, seed: number, delayMs: number) {
    const identity = `process-${seed}`;
    const client = farAway(cluster, clock, delayMs);
    this.lock = new LeaseResourceLock({ client, identity, namespace: 'ns', name: 'leader', clock });
    this.elector = new LeaderElector({
      lock: this.lock,
      clock,
      options: OPTIONS,
      random: new SeededRandom(seed),
      callbacks: {
        onStartedLeading: (signal, epoch) => {
          this.terms.push(epoch);
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        },
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
    });
    this.running = this.elector.run(this.stop.signal);
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
    this.lock.close();
  }
}

describe('electors whose Lease is deleted', () => {
  const { numRuns, seed } = propertyRuns({ gate: 20 });

  it(`never lead two at a time, give no epoch twice, and are led again (SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: ALL_HAVE_SEEN_MS, max: 4000 }), { minLength: 2, maxLength: 6 }),
        fc.array(fc.constantFrom(0, 20, 100, 300), { minLength: 3, maxLength: 3 }),
        fc.integer({ min: 1, max: 1000 }),
        async (deletedAfterMs, delays, first) => {
          const clock = new FakeClock();
          const cluster = new WatchableCluster(clock);
          const processes = delays.map((delayMs, i) => new Process(cluster, clock, first + i, delayMs));
          const leaders = (): Process[] => processes.filter(({ elector }) => elector.isLeader);
          const pass = async (ms: number): Promise<void> => {
            for (let passed = 0; passed < ms; passed += 20) {
              await clock.advance(20);
              expect(leaders().length, `at ${clock.monotonicNow()} ms`).toBeLessThan(2);
            }
          };
          for (const afterMs of deletedAfterMs) {
            await pass(afterMs);
            cluster.vanish(Lease, 'ns/leader');
          }
          await pass(LED_AGAIN_MS);
          expect(leaders()).toHaveLength(1);
          // A term may go on with its own Lease, in its epoch.
          const epochs = processes.flatMap(({ terms }) => [...new Set(terms)]);
          expect(new Set(epochs).size, epochs.join(', ')).toBe(epochs.length);
          expect(
            Math.max(...processes.map(({ terms }) => terms.length)),
            'deletions end terms',
          ).toBeGreaterThan(1);
          const ends = Promise.all(processes.map((process) => process.end()));
          await clock.advance(10_000);
          await ends;
        },
      ),
      { seed, numRuns },
    );
  });
});
