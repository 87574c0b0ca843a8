import { trace } from '@opentelemetry/api';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ControllerQueue } from '@rollkeeper/runtime/activation';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { noControllerMetrics } from '@rollkeeper/runtime/controller';
import { ApiEventRecorder } from '@rollkeeper/client/events';
import { InformerFactory, trimsFor } from '@rollkeeper/client/informer';
import type { Elector, ManagedController } from '@rollkeeper/runtime/manager';
import { Manager, missingOf } from '@rollkeeper/runtime/manager';
import type { SharedParts } from '@rollkeeper/runtime/operator/assemble-controller';
import { assembleController } from '@rollkeeper/runtime/operator/assemble-controller';
import type { Coordination } from '@rollkeeper/runtime/operator/coordination';
import type { CacheOf } from './activity.js';
import { cachesOf } from './activity.js';

interface ControllersDependencies {
  readonly client: ApiClient;
  readonly coordination: Coordination;
  /** The clock that controllers compare times with, and the pauses of everything around them. */
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The CA of the API server, PEM. */
  readonly rootCa: string;
}

/** How long keys in progress may continue after a stop, milliseconds. */
export const DRAIN_TIMEOUT_MS = 5000;

const IDENTITY = 'test-cluster';
const COMPONENT = 'rollkeeper';
/** Twice a replica's default: machines that run tests are busy. */
const CAUGHT_UP_TIMEOUT_MS = 10_000;

/** The single replica of a test cluster's controller manager. Runs once. */
export class Controllers {
  readonly queues: readonly ControllerQueue[];
  private readonly factory: InformerFactory;
  private readonly controllers: readonly ManagedController[];
  private readonly watching = new Map<ManagedController, Promise<void>>();
  private readonly manager: Manager;

  constructor(
    definitions: readonly ControllerDefinition[],
    private readonly dependencies: ControllersDependencies,
  ) {
    const { client, clock, coordination, logger, random, rootCa } = dependencies;
    const shared = { client, clock, random, logger };
    this.factory = new InformerFactory({ ...shared, trims: trimsFor(definitions) });
    const events = new ApiEventRecorder({ ...shared, component: COMPONENT });
    const parts: SharedParts = {
      identity: IDENTITY,
      clientOf: () => client,
      informers: this.factory,
      activationsOf: coordination.activationsOf.bind(coordination),
      rootCa,
      eventsOf: (component) => events.as(component),
      ...{ clock, random, logger },
      tracer: trace.getTracer('rollkeeper'),
      metrics: noControllerMetrics,
      caughtUpTimeoutMs: CAUGHT_UP_TIMEOUT_MS,
    };
    this.controllers = definitions.map((each) => this.noted(assembleController(each, parts)));
    this.queues = this.controllers.map(({ queue }) => queue);
    this.manager = new Manager({
      informers: this.factory,
      elector: soleElector,
      controllers: this.controllers,
      background: [events],
      clock,
      logger,
    });
  }

  /** The controllers' caches: the shared ones, and those that a controller keeps of `resources` for itself. */
  cachesOf(resources: readonly string[]): readonly CacheOf[] {
    const own = this.controllers.flatMap(({ built }) =>
      resources.flatMap((resource) => {
        const cache = built.informerOf?.(resource);
        return cache ? [{ resource, hasSeen: (version: string) => cache.hasSeen(version) }] : [];
      }),
    );
    return [...cachesOf(this.factory.all()), ...own];
  }

  /**
   * Runs until aborted.
   * @param onReady called once, when every cache is filled and every change becomes work; does not wait for a
   *   controller whose resource the server does not have (yet)
   */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    this.untilReady(signal).then(onReady, () => undefined);
    try {
      await this.manager.run(signal);
    } finally {
      await Promise.all(this.queues.map((queue) => queue.close()));
      await this.dependencies.coordination.close();
    }
  }

  private async untilReady(signal: AbortSignal): Promise<void> {
    await this.factory.waitUntilSettled(signal);
    const able = this.controllers.filter(({ needs = [] }) => missingOf(needs).length === 0);
    await Promise.all(able.flatMap((managed) => this.watching.get(managed) ?? []));
  }

  /** Wraps `managed` to notice when its changes are watched: that is when the manager starts the sweep. */
  private noted(managed: ManagedController): ManagedController {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { sweep } = managed;
    const noted: ManagedController = {
      ...managed,
      sweep: {
        run: async (adds, signal) => {
          resolve();
          await sweep?.run(adds, signal);
        },
      },
    };
    this.watching.set(noted, promise);
    return noted;
  }
}

/** An elector for a single replica with its own queues: no competition, and nothing to renew. */
const soleElector: Elector = {
  run: (lead, signal) => lead(signal, { epoch: 1, holder: IDENTITY }),
};
