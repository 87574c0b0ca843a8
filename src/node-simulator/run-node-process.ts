import type { ApiClient, HttpApiClient } from '../kit/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../kit/api-client/index.js';
import type { Clock, RandomSource } from '../base/clock/index.js';
import { SystemClock, SystemRandom } from '../base/clock/index.js';
import { ShutdownError, StartupError, errorMessage } from '../base/errors/index.js';
import { ApiEventRecorder } from '../kit/events/index.js';
import { SharedInformer, dropManagedFields } from '../kit/informer/index.js';
import type { Node, Pod } from '../base/kubernetes/index.js';
import { NODES, PODS } from '../base/kubernetes/index.js';
import type { Logger } from '../base/logging/index.js';
import { NodeSimulator } from './node-simulator.js';
import type { CompiledNodeSimulatorOptions, NodeSimulatorOptions } from './node-simulator.options.js';
import { compileNodeSimulatorOptions } from './node-simulator.options.js';

export interface NodeProcessOptions extends NodeSimulatorOptions {
  /** @default as kubectl finds it */
  kubeconfig?: string;
}

export interface NodeProcess {
  readonly logger: Logger;
  /** Names this program to the API server, for example `rollkeeper/0.1.0 (node)`. */
  readonly userAgent: string;
  /** Told once, when the nodes are registered and the pods known. */
  readonly onReady: () => void;
}

/** How long an API server that does not answer yet is waited for at the start. */
const API_WAIT_MS = 30_000;
const API_RETRY_MS = 500;

/**
 * The simulated nodes as a process of their own: plays until aborted.
 * @throws InvalidOptionError naming the option; StartupError when the API does not answer
 */
export async function runNodeProcess(
  { kubeconfig, ...simulator }: NodeProcessOptions,
  process: NodeProcess,
  signal: AbortSignal,
): Promise<void> {
  const options = compileNodeSimulatorOptions(simulator);
  const clock = new SystemClock();
  const { logger, userAgent } = process;
  const connection = await loadKubeconfig({ path: kubeconfig, clock });
  const client: HttpApiClient = createHttpApiClient({ connection, userAgent, clock, logger });
  try {
    await waitForApi(client, clock, signal);
    await play(client, clock, options, process, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await client.close();
  }
}

async function play(
  client: ApiClient,
  clock: Clock,
  options: CompiledNodeSimulatorOptions,
  { logger, onReady }: NodeProcess,
  signal: AbortSignal,
): Promise<void> {
  const random: RandomSource = new SystemRandom();
  const shared = { client, clock, random, logger, trim: dropManagedFields };
  const pods = new SharedInformer<Pod>({ ...shared, type: PODS });
  const nodes = new SharedInformer<Node>({ ...shared, type: NODES });
  const component = 'rollkeeper-node';
  const events = new ApiEventRecorder({ client, clock, random, logger, component, host: component });
  const simulator = new NodeSimulator({ client, pods, nodes, events, clock, logger }, options);
  // One part that fails stops the others, and all are waited for.
  const stopper = new AbortController();
  const onAbort = (): void => stopper.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const running = [pods.run(stopper.signal), nodes.run(stopper.signal), events.run(stopper.signal)];
  try {
    await simulator.register(stopper.signal);
    await Promise.all([pods.waitForSync(stopper.signal), nodes.waitForSync(stopper.signal)]);
    const playing = simulator.run(stopper.signal);
    logger.info('simulated nodes are ready', { nodes: options.nodes });
    onReady();
    await playing;
  } finally {
    signal.removeEventListener('abort', onAbort);
    stopper.abort(new ShutdownError('the simulated nodes stop'));
    await Promise.allSettled(running);
  }
}

async function waitForApi(client: ApiClient, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadlineMs = clock.monotonicNow() + API_WAIT_MS;
  for (;;) {
    try {
      await client.ping({ signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (clock.monotonicNow() >= deadlineMs) {
        const message = `the API server does not answer: ${errorMessage(error)}`;
        throw new StartupError(message, { cause: error });
      }
      await clock.sleep(API_RETRY_MS, signal);
    }
  }
}
