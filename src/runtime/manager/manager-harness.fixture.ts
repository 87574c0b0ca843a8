import { aborted } from '../../machinery/cancellation/index.js';
import { trace } from '@opentelemetry/api';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { QueuedActivations } from '../activation/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import type { BuiltController, SyncKey } from '../controller/index.js';
import { Controller } from '../controller/index.js';
import { ShutdownError } from '../../machinery/errors/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { Elector, ManagedController, ManagerOptions } from './index.js';
import { Manager } from './index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';

type Lead = Parameters<Elector['run']>[0];

/** An elector whose leadership a test starts and ends. */
class ScriptedElector implements Elector {
  log: string[] = [];
  private lead: Lead | undefined;
  private term: { stop: AbortController; ended: Promise<void> } | undefined;

  async run(lead: Lead, signal: AbortSignal): Promise<void> {
    this.lead = lead;
    await aborted(signal);
    await this.lose(new ShutdownError('stop'));
    this.log.push('released');
  }

  /** Whether it is campaigning. */
  get isRunning(): boolean {
    return this.lead !== undefined;
  }

  /** Resolves when the leading work has ended; rejects if that fails. */
  win(epoch: number): Promise<void> {
    const stop = new AbortController();
    const ended = this.lead?.(stop.signal, { epoch, holder: 'us' }) ?? Promise.resolve();
    this.term = { stop, ended };
    return ended;
  }

  async lose(reason: Error): Promise<void> {
    this.term?.stop.abort(reason);
    await this.term?.ended.catch(() => undefined);
    this.term = undefined;
  }
}

/** A controller on an in-memory queue, for one manager. */
interface ControllerSketch extends Pick<ManagedController, 'needs' | 'worksOn'> {
  /** See `ControllerDefinition.queue`. @default 'shared' */
  readonly waitsIn?: 'shared' | 'local';
  /** See `WorkQueueOptions`. @default 0 */
  readonly spreadAfterMs?: number;
  /** @default 'test' */
  readonly name?: string;
  /** @default does nothing */
  readonly reconcile?: SyncKey;
  readonly built?: Partial<Pick<BuiltController, 'watch' | 'leading'>>;
}

interface SketchedController {
  readonly managed: ManagedController;
  readonly controller: Controller;
  readonly queue: MemoryWorkQueue;
  /** Keys in the order of their syncs. */
  readonly reconciled: string[];
}

/** A manager with a test's controllers and a scripted elector. */
export class ManagerHarness {
  readonly clock = new FakeClock();
  readonly elector = new ScriptedElector();
  readonly manager: Manager;
  readonly controllers: readonly SketchedController[];
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  private readonly actors = new MemoryActorRuntime({ clock: this.clock });

  constructor(
    sketches: readonly ControllerSketch[],
    options: Partial<Pick<ManagerOptions, 'handover' | 'informers' | 'logger' | 'reconcileOn'>> = {},
  ) {
    this.controllers = sketches.map((sketch) => this.make(sketch));
    this.manager = new Manager({
      informers: {
        run: aborted,
        waitUntilSettled: async () => undefined,
      },
      logger: silentLogger,
      ...options,
      elector: this.elector,
      controllers: this.controllers.map(({ managed }) => managed),
      background: [],
      clock: this.clock,
    });
    this.running = this.manager.run(this.stop.signal);
  }

  async end(): Promise<void> {
    this.stop.abort(new ShutdownError('stop'));
    await this.running;
  }

  private make({
    built = {},
    name = 'test',
    needs,
    reconcile = async () => ({}),
    spreadAfterMs,
    waitsIn,
    worksOn,
  }: ControllerSketch): SketchedController {
    const { actors, clock } = this;
    const queue = new MemoryWorkQueue({ name, clock, options: { spreadAfterMs } });
    const reconciled: string[] = [];
    const activations = new QueuedActivations({
      ...{ queue, actors, clock, logger: silentLogger },
      consumer: new MemoryWorkQueueConsumer(queue),
      ...(waitsIn === 'local' && { dropKeys: () => queue.endTerm() }),
    });
    const controller = new Controller({
      name,
      sync: (request, access, decide) => {
        reconciled.push(request.key);
        return reconcile(request, access, decide);
      },
      activations,
      clientFor: () => new FakeCluster(clock),
      informerOf: () => undefined,
      clock,
      logger: silentLogger,
      tracer: trace.getTracer('test'),
      workers: 2,
      caughtUpTimeoutMs: 1000,
      replica: 'test',
    });
    const parts = { sync: reconcile, watch: () => () => undefined, ...built };
    const managed = { controller, activations, queue, built: parts, needs, worksOn };
    return { managed, controller, queue, reconciled };
  }
}
