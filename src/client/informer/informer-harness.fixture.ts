import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import type { ResourceEvent, SharedInformerOptions } from './index.js';
import { SharedInformer } from './index.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { Pod, keyOf } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeListWatch } from '../../testing/fake-list-watch.js';

/** The object type of informer tests: anything with a field to change. */
export interface Thing extends KubernetesObject {
  value?: string;
}

interface Versioned {
  readonly metadata: Readonly<Pick<Thing['metadata'], 'name' | 'namespace' | 'resourceVersion'>>;
}

/** An informer on a scripted server and a manual clock. Cached objects are frozen. */
export class InformerHarness {
  readonly clock = new FakeClock();
  readonly server = new FakeListWatch<Thing>(Pod, this.clock);
  readonly informer: SharedInformer<Thing>;
  private readonly stopper = new AbortController();
  private running?: Promise<void>;

  constructor(options: Partial<SharedInformerOptions<Thing>> = {}, seed = 1) {
    this.informer = new SharedInformer<Thing>({
      type: Pod,
      client: this.server,
      clock: this.clock,
      random: new SeededRandom(seed),
      logger: silentLogger,
      freeze: true,
      ...options,
    });
  }

  get signal(): AbortSignal {
    return this.stopper.signal;
  }

  /** Runs the informer up to the point where it needs time. */
  async start(): Promise<this> {
    this.running = this.informer.run(this.signal);
    await this.clock.advance(0);
    return this;
  }

  async stop(): Promise<void> {
    this.stopper.abort(new Error('the test is over'));
    await this.running;
  }

  /** Keys and resourceVersions in the cache. */
  cached(): Record<string, string | undefined> {
    return versionsOf(this.informer.lister.list());
  }

  /** Keys and resourceVersions on the server. */
  stored(): Record<string, string | undefined> {
    return versionsOf([...this.server.state().values()]);
  }

  /** Collects events as text: `added a/x@101 initial`. */
  recordEvents(): string[] {
    const seen: string[] = [];
    this.informer.addEventHandler((event) => seen.push(describeEvent(event)));
    return seen;
  }
}

function versionsOf(objects: readonly Versioned[]): Record<string, string | undefined> {
  const pairs = objects.map(({ metadata }) => [keyOf(metadata), metadata.resourceVersion] as const);
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function describeEvent(event: ResourceEvent<Thing>): string {
  const mark =
    event.type === 'added' && event.initial
      ? ' initial'
      : event.type === 'deleted' && event.finalStateUnknown
        ? ' unknown'
        : '';
  return `${event.type} ${keyOf(event.object.metadata)}@${event.object.metadata.resourceVersion}${mark}`;
}
