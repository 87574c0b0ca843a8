import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '@rollkeeper/machinery/kubernetes';
import {
  NODES,
  PERSISTENT_VOLUMES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  STORAGE_CLASSES,
} from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { ApiEventRecorder } from '@rollkeeper/client/events';
import type { Informer } from '@rollkeeper/client/informer';
import { SharedInformer, dropManagedFields } from '@rollkeeper/client/informer';
import { NodeSimulator } from './node-simulator.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';

export interface SimulatedNodesDependencies {
  readonly client: ApiClient;
  /** The clock of nodes and pods. */
  readonly clock: Clock;
  /** The clock of everything else: caches, events, backoff. @default clock */
  readonly machineClock?: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

const COMPONENT = 'rollkeeper-node';
/** The scheduler that is simulated. */
const SCHEDULER = 'default-scheduler';

/** The {@link NodeSimulator} with its caches and event recorders. */
export class SimulatedNodes {
  private readonly pods: SharedInformer<Pod>;
  private readonly nodes: SharedInformer<Node>;
  private readonly claims: SharedInformer<PersistentVolumeClaim>;
  private readonly volumes: SharedInformer<PersistentVolume>;
  private readonly classes: SharedInformer<StorageClass>;
  private readonly events: ApiEventRecorder;
  private readonly simulator: NodeSimulator;

  constructor(
    private readonly dependencies: SimulatedNodesDependencies,
    private readonly options: CompiledNodeSimulatorOptions,
  ) {
    const { clock, machineClock = clock, ...shared } = dependencies;
    const cached = { ...shared, clock: machineClock, trim: dropManagedFields };
    this.pods = new SharedInformer<Pod>({ ...cached, type: PODS });
    this.nodes = new SharedInformer<Node>({ ...cached, type: NODES });
    this.claims = new SharedInformer<PersistentVolumeClaim>({ ...cached, type: PERSISTENT_VOLUME_CLAIMS });
    this.volumes = new SharedInformer<PersistentVolume>({ ...cached, type: PERSISTENT_VOLUMES });
    this.classes = new SharedInformer<StorageClass>({ ...cached, type: STORAGE_CLASSES });
    this.events = new ApiEventRecorder({
      ...shared,
      clock: machineClock,
      component: COMPONENT,
    });
    const { claims, classes, pods, nodes, events, volumes } = this;
    const caches = { pods, nodes, claims, volumes, classes };
    const schedulerEvents = events.as(SCHEDULER);
    this.simulator = new NodeSimulator(
      { ...shared, ...caches, clock, pauses: machineClock, events, schedulerEvents },
      options,
    );
  }

  /** The nodes' caches. */
  get informers(): readonly Informer[] {
    return [this.pods, this.nodes, this.claims, this.volumes, this.classes] as readonly Informer[];
  }

  /**
   * Runs until aborted.
   * @param onReady called once, when the nodes are registered and the pods known
   */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    const { events, informers, simulator } = this;
    // If one part fails, the others are stopped and awaited.
    const stopper = new AbortController();
    const onAbort = (): void => stopper.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const running = [events, ...informers].map((part) => part.run(stopper.signal));
    try {
      await simulator.register(stopper.signal);
      await Promise.all(informers.map((informer) => informer.waitForSync(stopper.signal)));
      const playing = simulator.run(stopper.signal);
      this.dependencies.logger.info('simulated nodes are ready', { nodes: this.options.nodes });
      onReady();
      await playing;
    } finally {
      signal.removeEventListener('abort', onAbort);
      stopper.abort(new ShutdownError('the simulated nodes stop'));
      await Promise.allSettled(running);
    }
  }
}
