import type { HttpApiClient } from '@rollkeeper/client/api-client';
import { createHttpApiClient, loadKubeconfig, withSpans } from '@rollkeeper/client/api-client';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { Tracing } from '@rollkeeper/runtime/telemetry';
import { Scheduler } from '@rollkeeper/scheduler';
import type { NodeSimulatorOptions } from '@rollkeeper/simulator';
import { SimulatedNodes, compileNodeSimulatorOptions } from '@rollkeeper/simulator';
import { readNodeProfiles } from './node-profiles.js';
import { loadDeviceSelector } from './load-device-selector.js';
import { runTogether } from './run-together.js';
import type { SchedulerFiles } from '../../insight/explain-pod/scheduler-settings.js';
import { readSchedulerSettings } from '../../insight/explain-pod/scheduler-settings.js';
import { waitForApi } from './wait-for-api.js';

export interface NodeProcessOptions extends NodeSimulatorOptions {
  /** @default kubectl's rules */
  kubeconfig?: string;
  /** The file with the properties of the nodes. @default all alike */
  profilesFile?: string | undefined;
  /** Schedules pods as well, with these settings. @default another process does */
  scheduler?: SchedulerFiles;
}

export interface NodeProcess {
  readonly logger: Logger;
  /** The user agent, for example `rollkeeper/0.1.0 (node)`. */
  readonly userAgent: string;
  readonly tracer: Tracing['tracer'];
  /** Called once, when the nodes are registered and the pods known. */
  readonly onReady: () => void;
}

/**
 * The simulated nodes as a process of their own, by default with the scheduler, which shares their caches and connections. Runs until
 * aborted.
 * @throws InvalidOptionError naming the option; StartupError if the API does not answer
 */
export async function runNodeProcess(
  { kubeconfig, profilesFile, scheduler: files, ...simulator }: NodeProcessOptions,
  process: NodeProcess,
  signal: AbortSignal,
): Promise<void> {
  const plain = compileNodeSimulatorOptions(simulator);
  const options =
    profilesFile === undefined
      ? plain
      : compileNodeSimulatorOptions({
          ...simulator,
          profiles: await readNodeProfiles(profilesFile, plain.nodes),
        });
  const { logger, tracer, userAgent } = process;
  const settings = files && (await readSchedulerSettings(files, logger));
  const clock = new SystemClock();
  const connection = await loadKubeconfig({ path: kubeconfig, clock });
  const client: HttpApiClient = createHttpApiClient({ connection, userAgent, clock, logger });
  // If one part fails, the other is stopped and awaited.
  const either = new LinkedAbort(signal);
  try {
    await waitForApi(client, clock, signal);
    const shared = { client, clock, random: new SystemRandom(), logger };
    const nodes = new SimulatedNodes(shared, options);
    const scheduler =
      settings &&
      new Scheduler({
        loadDeviceSelector,
        ...shared,
        ...settings,
        client: withSpans(client, tracer, clock),
        tracer,
        eventsOf: (name) => nodes.events.as(name),
        caches: { pods: nodes.pods, nodes: nodes.nodes },
      });
    let waiting = scheduler ? 2 : 1;
    const ready = (): void => {
      if (--waiting === 0) process.onReady();
    };
    const parts = scheduler ? [nodes, scheduler] : [nodes];
    await runTogether(
      parts.map((part) => (until) => part.run(until, ready)),
      either,
    );
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    either.close();
    await client.close();
  }
}
