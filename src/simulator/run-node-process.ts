import type { ApiClient, HttpApiClient } from '@rollkeeper/client/api-client';
import { createHttpApiClient, loadKubeconfig } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { SimulatedNodes } from './simulated-nodes.js';
import type { NodeSimulatorOptions } from './node-simulator.options.js';
import { compileNodeSimulatorOptions } from './node-simulator.options.js';

export interface NodeProcessOptions extends NodeSimulatorOptions {
  /** @default kubectl's rules */
  kubeconfig?: string;
}

export interface NodeProcess {
  readonly logger: Logger;
  /** The user agent, for example `rollkeeper/0.1.0 (node)`. */
  readonly userAgent: string;
  /** Called once, when the nodes are registered and the pods known. */
  readonly onReady: () => void;
}

/** How long to wait at startup for an API server that does not answer yet. */
const API_WAIT_MS = 30_000;
const API_RETRY_MS = 500;

/**
 * The simulated nodes as a process of their own; runs until aborted.
 * @throws InvalidOptionError naming the option; StartupError if the API does not answer
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
    const nodes = new SimulatedNodes({ client, clock, random: new SystemRandom(), logger }, options);
    await nodes.run(signal, process.onReady);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await client.close();
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
