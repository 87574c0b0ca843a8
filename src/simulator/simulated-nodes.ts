import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import { ConfigMap, Node, PersistentVolumeClaim, Pod, Secret } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { ApiEventRecorder } from '@rollkeeper/client/events';
import type { Informer } from '@rollkeeper/client/informer';
import { SharedInformer, dropManagedFields } from '@rollkeeper/client/informer';
import { NodeSimulator } from './node-simulator.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import type { KeyedObject } from './pod-sources.js';
import { PodSources, bindingAlone, keysAlone } from './pod-sources.js';

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

/** The {@link NodeSimulator} with its caches and event recorders. */
export class SimulatedNodes {
  /** Whole objects, to be shared. */
  readonly pods: SharedInformer<Pod>;
  readonly nodes: SharedInformer<Node>;
  readonly events: ApiEventRecorder;
  /** One for all nodes: what pods refer to, without content. */
  private readonly sources: readonly (SharedInformer<KeyedObject> | SharedInformer<PersistentVolumeClaim>)[];
  private readonly simulator: NodeSimulator;

  constructor(
    private readonly dependencies: SimulatedNodesDependencies,
    private readonly options: CompiledNodeSimulatorOptions,
  ) {
    const { clock, machineClock = clock, ...shared } = dependencies;
    const cached = { ...shared, clock: machineClock, trim: dropManagedFields };
    this.pods = new SharedInformer<Pod>({ ...cached, type: Pod });
    this.nodes = new SharedInformer<Node>({ ...cached, type: Node });
    this.events = new ApiEventRecorder({
      ...shared,
      clock: machineClock,
      component: COMPONENT,
    });
    const listed = { ...shared, clock: machineClock, standardIndexes: false };
    const configMaps = new SharedInformer<KeyedObject>({ ...listed, type: ConfigMap, trim: keysAlone });
    const secrets = new SharedInformer<KeyedObject>({ ...listed, type: Secret, trim: keysAlone });
    const claims = new SharedInformer<PersistentVolumeClaim>({
      ...{ ...listed, type: PersistentVolumeClaim, trim: bindingAlone },
    });
    this.sources = [configMaps, secrets, claims];
    const sources = new PodSources({ configMaps, secrets, claims });
    const { events, nodes, pods } = this;
    this.simulator = new NodeSimulator(
      { ...shared, pods, nodes, sources, clock, pauses: machineClock, events },
      options,
    );
  }

  /** The nodes' caches. */
  get informers(): readonly Informer[] {
    return [this.pods, this.nodes, ...this.sources];
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
      const required = [this.pods, this.nodes].map((informer) => informer.waitForSync(stopper.signal));
      await Promise.all([...required, ...informers.map((one) => one.waitUntilSettled(stopper.signal))]);
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
