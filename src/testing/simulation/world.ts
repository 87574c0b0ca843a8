import type { ControllerDefinition, CreateManagerOptions } from '@rollkeeper/runtime';
import type { WebhookCaller } from '@rollkeeper/apiserver';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { Logger } from '@rollkeeper/machinery/logging';
import { ApiNetwork } from './api-network.js';
import { Kernel } from './kernel.js';
import { Network } from './network.js';
import { SimulatedProcess } from './process.js';
import type { ProcessOptions } from './process.js';
import type { RunningReplica } from './replica.js';
import { Replica, simulatedClient } from './replica.js';
import { SimulatedApi } from './simulated-api.js';
import type { StoredChange } from './simulated-api.js';
import type { CoordinationViews } from './simulated-coordination.js';
import { SimulatedNodes } from './simulated-nodes.js';
import { SimulatedStore } from './simulated-store.js';
import type { WorldStore } from './world-store.js';

/** The options of a {@link World}. */
export interface WorldOptions {
  /** Decides everything. */
  readonly seed: number;
  /** @default 3 */
  readonly replicas?: number;
  /** The controllers of each replica, which runs in this process. */
  readonly controllers: (process: SimulatedProcess) => readonly ControllerDefinition[];
  /** How many of the last lines of the trace are kept. @default 0 */
  readonly keepTrace?: number;
  /** Answers the API server's webhooks, in a process of its own. @default none of them answers */
  readonly webhooks?: (process: SimulatedProcess) => WebhookCaller;
  /** Prepares the API server, before the first replica starts. @default nothing */
  readonly before?: (client: HttpApiClient) => Promise<void>;
  /** Called with each change of the API's store. @default nothing */
  readonly onChange?: (change: StoredChange) => void;
  /**
   * `store`: replicas share queues, locks and the lease in a simulated store. `leases`: the holder of a Lease in the API works alone.
   * A function makes another store in the process that it is given.
   * @default 'store'
   */
  readonly coordination?: 'store' | 'leases' | ((process: SimulatedProcess, network: Network) => WorldStore);
  /** Changes what a replica gets of a store. @default nothing */
  readonly views?: (process: SimulatedProcess) => CoordinationViews;
  /** Further options of a replica's manager. @default none */
  readonly manager?: (process: SimulatedProcess) => Partial<CreateManagerOptions>;
  /** The log of a replica, by its name. @default silent */
  readonly logger?: (name: string) => Logger;
  /** Starts the replica of a process in another way, as one of another version; undefined: as any. @default as any */
  readonly startReplica?: (process: SimulatedProcess, world: World) => Promise<RunningReplica> | undefined;
}

/** Clocks of different machines differ by this share of their speed at most. */
const MOST_DRIFT = 0.01;
/** Their wall clocks differ by so much, milliseconds. */
const MOST_SKEW_MS = 5000;
const API_LATENCY_MS = [0.5, 12] as const;
const STORE_LATENCY_MS = [0.1, 2] as const;

/**
 * A cluster in one simulation: an API server, a store that replicas coordinate through, nodes, and the replicas of one
 * operator. All of them on one kernel, so that the seed decides all that happens.
 */
export class World {
  readonly kernel: Kernel;
  readonly network: Network;
  readonly store: WorldStore;
  readonly api: SimulatedApi;
  readonly apiNetwork: ApiNetwork;
  readonly nodes: SimulatedNodes;
  readonly replicas: RunningReplica[] = [];
  private lives = 0;
  private readonly starting = new Map<number, Promise<RunningReplica>>();

  private constructor(private readonly options: WorldOptions) {
    const { keepTrace, seed } = options;
    this.kernel = new Kernel({ seed, keepTrace });
    this.network = new Network(this.kernel, (from, to) =>
      from === 'store' || to === 'store' ? STORE_LATENCY_MS : API_LATENCY_MS,
    );
    const { coordination } = options;
    const store = this.process('store');
    this.store =
      typeof coordination === 'function'
        ? coordination(store, this.network)
        : new SimulatedStore(store, this.network);
    this.api = new SimulatedApi(
      new SimulatedProcess(this.kernel, 'api'),
      (change) => {
        this.nodes.see(change);
        options.onChange?.(change);
      },
      options.webhooks?.(new SimulatedProcess(this.kernel, 'webhooks')),
    );
    this.apiNetwork = new ApiNetwork(this.api, this.network);
    this.nodes = new SimulatedNodes(new SimulatedProcess(this.kernel, 'nodes'), this.api);
  }

  /** A world whose API server answers and whose replicas have just been started. */
  static async create(options: WorldOptions): Promise<World> {
    const world = new World(options);
    await world.during(world.api.start());
    if (options.before) await world.during(options.before(world.client(world.process('preparation'))));
    for (let index = 0; index < (options.replicas ?? 3); index++)
      await world.during(world.startReplica(index));
    return world;
  }

  /** Lets time pass until a promise has settled. @param onStep called before each step */
  async during<T>(work: Promise<T>, onStep: () => void = () => undefined): Promise<T> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    work.then(over, over);
    await this.kernel.runWhile(() => {
      onStep();
      return isOver;
    });
    return work;
  }

  /** A process with a clock of its own, a little wrong as any. */
  process(name: string): SimulatedProcess {
    const { random } = this.kernel;
    const between = (most: number): number => (2 * random.next() - 1) * most;
    const options: ProcessOptions = { rate: 1 + between(MOST_DRIFT), wallOffsetMs: between(MOST_SKEW_MS) };
    return new SimulatedProcess(this.kernel, name, options);
  }

  /** A client in a process that is no replica. */
  client(process: SimulatedProcess): HttpApiClient {
    return simulatedClient(process, this.apiNetwork);
  }

  /**
   * Starts a replica, or starts it again as a new process after it was killed or has ended. While it starts, it is the same
   * start: a second process beside it would be one replica more.
   */
  async startReplica(index: number): Promise<RunningReplica> {
    const underWay = this.starting.get(index);
    if (underWay) return underWay;
    const start = this.startNew(index);
    this.starting.set(index, start);
    try {
      return await start;
    } finally {
      this.starting.delete(index);
    }
  }

  private async startNew(index: number): Promise<RunningReplica> {
    const { coordination: way, startReplica } = this.options;
    const process = this.process(`replica-${index}.${++this.lives}`);
    const ownSteps = typeof way === 'function';
    if (ownSteps) await new Promise<void>((resolve) => process.after(0, resolve));
    const replica = await (startReplica?.(process, this) ?? this.startOwn(process, ownSteps));
    this.replicas[index] = replica;
    return replica;
  }

  private startOwn(process: SimulatedProcess, ownSteps: boolean): Promise<Replica> {
    const { controllers, coordination: way, logger, manager, views } = this.options;
    const coordination = way === 'leases' ? way : this.store.coordinationOf(process, views?.(process));
    return Replica.start(process, {
      ...{
        controllers: controllers(process),
        coordination,
        api: this.apiNetwork,
        manager: manager?.(process),
      },
      ownSteps,
      logger: logger?.(process.name),
    });
  }

  /** Ends the world's own parts and gives the event loop back. The replicas have to be ended before. */
  async close(): Promise<void> {
    await this.during(this.api.stop());
    this.store.close?.();
    this.kernel.close();
  }
}
