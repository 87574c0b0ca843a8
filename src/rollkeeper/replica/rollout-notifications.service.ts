import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { UndiciSender, channelsOf, hostProblem } from '@rollkeeper/controllers/deployment';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { ControllerManager } from '@rollkeeper/runtime';
import { createNotificationMetrics } from './app-metrics.js';
import { Notifications, smtpSender } from '../insight/notifications/index.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { RolloutFeed } from './rollout-feed.js';
import { deploymentDefinition } from './watched-deployments.js';

/** Names the recorder of Events about channels. */
const COMPONENT = 'rollkeeper-notifications';

/** Notifies people of rollouts, if hosts are allowed, and Deployments are processed, and so watched. */
@Injectable()
export class RolloutNotifications implements OnModuleInit, OnModuleDestroy {
  private readonly stopper = new AbortController();
  private removeHandlers: (() => void) | undefined;
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(KubernetesApi) private readonly api: KubernetesApi,
  ) {}

  /** Before the application starts: the manager fills the caches requested by then. */
  onModuleInit(): void {
    const { 'console-url': consoleUrl, notificationHosts: hosts } = this.options;
    const onResult = createNotificationMetrics(this.telemetry.metrics.meter);
    const definition = deploymentDefinition(this.options);
    if (hosts.length === 0 || !definition) return;
    const { clock, manager } = this;
    const feed = new RolloutFeed(manager, this.options, () => clock.now());
    const sender = new UndiciSender(clock, (url) => hostProblem(url, hosts, '--notification-hosts'));
    const notifications = new Notifications({
      ...{ hosts, sender, clock, onResult },
      mail: smtpSender(clock),
      logger: this.telemetry.logger,
      client: this.api.clients.clientFor(definition),
      keys: () => feed.keys(),
      channelsOf: (ref) => {
        const { namespace, own } = feed.annotationsOf(ref);
        return channelsOf(own, namespace);
      },
      viewOf: (ref) => feed.viewOf(ref),
      isLeader: () => manager.isLeader,
      record: (about, note) => manager.eventsOf(COMPONENT).record(about, note),
      ...(consoleUrl !== undefined && { consoleUrl }),
    });
    this.removeHandlers = feed.onChange((ref) => notifications.note(ref));
    this.ended = notifications.run(this.stopper.signal).finally(() => sender.close());
  }

  async onModuleDestroy(): Promise<void> {
    this.removeHandlers?.();
    this.stopper.abort();
    await this.ended;
  }
}
