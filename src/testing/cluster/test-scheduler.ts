import { compileDeviceSelector } from '@rollkeeper/apiserver/device-selectors';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { ApiEventRecorder } from '@rollkeeper/client/events';
import type { Informer } from '@rollkeeper/client/informer';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { Scheduler } from '@rollkeeper/scheduler';
import type { SimulatedNodes } from '@rollkeeper/simulator';
import type { CompiledTestScheduler } from './test-cluster.options.js';

interface TestSchedulerParts extends CompiledTestScheduler {
  readonly client: ApiClient;
  /** The cluster's time, with the machine's durations. */
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The nodes whose caches it shares. @default its own */
  readonly nodes?: SimulatedNodes;
}

/** The scheduler of a test cluster, with its events. */
export class TestScheduler {
  private readonly events: ApiEventRecorder;
  private readonly scheduler: Scheduler;

  constructor({ configuration, nodes, plugins, ...shared }: TestSchedulerParts) {
    this.events = new ApiEventRecorder({ ...shared, component: 'default-scheduler' });
    this.scheduler = new Scheduler({
      compileDeviceSelector,
      ...shared,
      configuration,
      plugins,
      eventsOf: (name) => this.events.as(name),
      ...(nodes && { caches: { pods: nodes.pods, nodes: nodes.nodes } }),
    });
  }

  get informers(): readonly Informer[] {
    return this.scheduler.informers;
  }

  /** How many pods are about to be tried. */
  get active(): number {
    return this.scheduler.pending.active;
  }

  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    const recording = this.events.run(signal);
    await this.scheduler.run(signal, onReady);
    await recording;
  }
}
