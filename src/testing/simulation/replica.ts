import { createNoopMeter, trace } from '@opentelemetry/api';
import { createHttpApiClient, fixedCredentials } from '@rollkeeper/client/api-client';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { ControllerDefinition, ControllerManager, CreateManagerOptions } from '@rollkeeper/runtime';
import { createManager } from '@rollkeeper/runtime';
import type { ApiNetwork } from './api-network.js';
import type { SimulatedProcess } from './process.js';

/** The parts of a replica that a world decides. */
export interface ReplicaOptions {
  /** The operator's name, the same on all replicas. @default 'simulated' */
  readonly name?: string;
  readonly controllers: readonly ControllerDefinition[];
  readonly coordination: CreateManagerOptions['coordination'];
  readonly api: ApiNetwork;
  /**
   * Whether it is stopped in a completion of its own process, for libraries whose time is that of the process that runs.
   * @default false
   */
  readonly ownSteps?: boolean;
  /** Further options of its manager. @default none */
  readonly manager?: Partial<CreateManagerOptions>;
  /** @default silent */
  readonly logger?: Logger;
}

/** A replica as the world and its checks see it. It may be of another version of the product. */
export interface RunningReplica {
  readonly process: SimulatedProcess;
  readonly manager: Pick<ControllerManager, 'controllers' | 'informers' | 'isLeader' | 'tellsOf'>;
  /** Undefined while it runs or was stopped; otherwise why it ended. */
  readonly failure: unknown;
  readonly hasEnded: boolean;
  /** As SIGTERM does. */
  stop(): void;
}

/** The manager of one simulated process, running. */
export class Replica implements RunningReplica {
  failure: unknown;
  hasEnded = false;
  private readonly stopper = new AbortController();

  private constructor(
    readonly process: SimulatedProcess,
    readonly manager: ControllerManager,
    readonly client: HttpApiClient,
    private readonly ownSteps: boolean,
  ) {}

  static async start(process: SimulatedProcess, options: ReplicaOptions): Promise<Replica> {
    const { api, controllers, coordination, logger = silentLogger, name = 'simulated' } = options;
    const { ownSteps = false } = options;
    const { clock, random } = process;
    const client = simulatedClient(process, api, logger);
    const manager = await createManager({
      ...{ name, identity: process.name, client, clock, random, logger, coordination },
      metrics: { meter: createNoopMeter(), serialize: async () => '', shutdown: async () => undefined },
      tracing: { tracer: trace.getTracer('simulation'), enabled: false, shutdown: async () => undefined },
      ...options.manager,
    });
    const replica = new Replica(process, manager.add(...controllers), client, ownSteps);
    replica.run();
    return replica;
  }

  /** As SIGTERM does. {@link hasEnded} says when it has ended. */
  stop(): void {
    const stop = (): void => this.stopper.abort(new ShutdownError('stopped'));
    if (this.ownSteps) this.process.after(0, stop);
    else stop();
  }

  private run(): void {
    this.manager
      .run(this.stopper.signal)
      // As a manager does with a client of its own.
      .finally(() => this.client.close())
      .catch((error: unknown) => (this.failure = error))
      .finally(() => (this.hasEnded = true));
  }
}

/** A client of the simulated API server, in a simulated process. */
export function simulatedClient(
  process: SimulatedProcess,
  api: ApiNetwork,
  logger: Logger = silentLogger,
): HttpApiClient {
  const { clock, random } = process;
  return createHttpApiClient({
    connection: {
      serverUrl: 'http://simulated',
      tls: {},
      credentials: fixedCredentials({}),
      source: 'simulation',
    },
    userAgent: process.name,
    connections: api.connectionsOf(process),
    ...{ clock, random, logger },
  });
}
