import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import { createHttpApiClient, loadKubeconfig, withSpans } from '@rollkeeper/client/api-client';
import { ApiEventRecorder } from '@rollkeeper/client/events';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { LeaseLostError, StaleCacheError } from '@rollkeeper/machinery/errors';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { HealthRegistry } from '@rollkeeper/runtime/health';
import { LeaderElector, LeaseResourceLock } from '@rollkeeper/runtime/leader-election';
import { ProbeServer } from '@rollkeeper/runtime/operator/probe-server';
import type { Metrics, Tracing } from '@rollkeeper/runtime/telemetry';
import { createLeaderElectionMetrics } from '@rollkeeper/runtime/telemetry';
import type { LeaseConfiguration } from '@rollkeeper/scheduler';
import { Scheduler, createSchedulerMetrics } from '@rollkeeper/scheduler';
import { runTogether } from './run-together.js';
import type { SchedulerFiles } from '../../insight/explain-pod/scheduler-settings.js';
import { loadDeviceSelector } from './load-device-selector.js';
import { readSchedulerSettings } from '../../insight/explain-pod/scheduler-settings.js';
import { waitForApi } from './wait-for-api.js';

export interface SchedulerProcessOptions extends SchedulerFiles {
  /** @default kubectl's rules */
  readonly kubeconfig?: string | undefined;
  /** Without it, it schedules alone. */
  readonly leaderElect: boolean;
  /** `namespace/name` of the Lease. @default what the configuration names */
  readonly lease?: string | undefined;
  /** @default host name and a random suffix */
  readonly identity?: string | undefined;
  /** @default none are served */
  readonly probes?: { readonly port: number; readonly host: string } | undefined;
}

export interface SchedulerProcess {
  readonly logger: Logger;
  readonly userAgent: string;
  readonly tracer: Tracing['tracer'];
  readonly metrics: Metrics;
  /** Called once, when the cluster is known. @param url of the probes, if they are served */
  readonly onReady: (url: string | undefined) => void;
}

/**
 * A scheduler as a process of its own. Of several, all follow the cluster and the one that holds the Lease schedules. Runs until aborted.
 * @throws InvalidOptionError naming the option or the field; StartupError if the API does not answer
 */
export async function runSchedulerProcess(
  options: SchedulerProcessOptions,
  process: SchedulerProcess,
  signal: AbortSignal,
): Promise<void> {
  const { logger, metrics, tracer, userAgent } = process;
  const settings = await readSchedulerSettings(options, logger);
  const { configuration } = settings;
  const clock = new SystemClock();
  const connection = await loadKubeconfig({ path: options.kubeconfig ?? configuration.kubeconfig, clock });
  const client: HttpApiClient = createHttpApiClient({ connection, userAgent, clock, logger });
  const shared = { client, clock, random: new SystemRandom(), logger };
  const events = new ApiEventRecorder({ ...shared, component: 'default-scheduler' });
  const schedulerNames = configuration.profiles.map(({ schedulerName }) => schedulerName);
  const leading: { elector?: LeaderElector | undefined } = {};
  const scheduler = new Scheduler({
    loadDeviceSelector,
    ...shared,
    ...settings,
    client: withSpans(client, tracer, clock),
    tracer,
    eventsOf: (name) => events.as(name),
    metrics: createSchedulerMetrics(metrics, schedulerNames),
    assertMayWrite: () => {
      if (leading.elector && !leading.elector.isLeader)
        throw new LeaseLostError('another scheduler may hold the lease');
    },
  });
  const lease = options.leaderElect ? leaseOf(options.lease, configuration.leaderElection) : undefined;
  const election = lease && electionFor(lease, options, { ...shared, metrics, scheduler });
  const elector = election?.elector;
  leading.elector = elector;
  const probes =
    options.probes &&
    new ProbeServer(options.probes, { health: healthOf(scheduler, elector), metrics, clock });
  const either = new LinkedAbort(signal);
  try {
    await waitForApi(client, clock, signal);
    const url = await probes?.listen();
    void scheduler.ready.then(
      () => process.onReady(url),
      () => undefined,
    );
    await runTogether(
      [
        (until) => events.run(until),
        (until) => scheduler.follow(until),
        (until) => (elector ? elector.run(until) : scheduler.schedule(until)),
      ],
      either,
    );
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    either.close();
    election?.lock.close();
    await probes?.close();
    await client.close();
  }
}

function leaseOf(
  given: string | undefined,
  configured: LeaseConfiguration | undefined,
): LeaseConfiguration | undefined {
  if (given === undefined || !configured) return configured;
  const { name, namespace = configured.namespace } = parseKey(given);
  return { ...configured, name, namespace };
}

interface ElectionParts {
  readonly client: HttpApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly scheduler: Scheduler;
}

/** It campaigns for the Lease, and schedules while it holds it. */
function electionFor(
  { name, namespace, timing }: LeaseConfiguration,
  { identity = `${hostname()}_${randomUUID().slice(0, 8)}` }: SchedulerProcessOptions,
  { client, clock, logger, metrics, scheduler }: ElectionParts,
) {
  const lock = new LeaseResourceLock({ client, clock, identity, name, namespace });
  const elector = new LeaderElector({
    lock,
    clock,
    logger,
    options: timing,
    metrics: createLeaderElectionMetrics(metrics.meter, name),
    callbacks: {
      onStartedLeading: (until) => scheduler.schedule(until),
      onStoppedLeading: (reason) => logger.info('no longer scheduling', { reason: reason.message }),
      onNewLeader: (leader) => logger.info('a scheduler leads', { leader, self: leader === identity }),
    },
  });
  return { elector, lock };
}

function healthOf(scheduler: Scheduler, elector: LeaderElector | undefined): HealthRegistry {
  const health = new HealthRegistry();
  if (elector) health.add('livez', { name: 'leader-election', check: () => elector.checkHealth() });
  health.add('readyz', {
    name: 'caches',
    check: () => {
      if (!scheduler.isReady) throw new StaleCacheError('the cluster is not known yet');
    },
  });
  return health;
}
