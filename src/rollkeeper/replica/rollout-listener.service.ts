import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { ControllerManager } from '@rollkeeper/runtime';
import { KubernetesApi } from './kubernetes-api.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { UndiciSender, channelsOf, fileSigner, hostProblem } from '@rollkeeper/controllers/deployment';
import { createNotificationMetrics, createRolloutEventMetrics } from './app-metrics.js';
import { RolloutEvents } from '../insight/events/index.js';
import { RolloutFeed } from './rollout-feed.js';
import { deploymentDefinition } from './watched-deployments.js';
import { Notifications, smtpSender } from '../insight/notifications/index.js';

/** The work that a listener does beside the controllers. */
interface ListenerWork {
  /** The Deployment of this key, or its rollout, may have changed. Never waits, never throws. */
  note(key: string): void;
  /** Resolves on abort. */
  run(signal: AbortSignal): Promise<unknown>;
}

/** A service that hears of all rollouts and reports them to others, until the application ends. */
abstract class RolloutListener implements OnModuleDestroy {
  private readonly stopper = new AbortController();
  private removeHandlers: (() => void) | undefined;
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(REPLICA_OPTIONS) protected readonly options: CompiledReplicaOptions,
    @Inject(ControllerManager) protected readonly manager: ControllerManager,
    @Inject(SystemClock) protected readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) protected readonly telemetry: ReplicaTelemetry,
    @Inject(KubernetesApi) protected readonly api: KubernetesApi,
  ) {}

  async onModuleDestroy(): Promise<void> {
    this.removeHandlers?.();
    this.stopper.abort();
    await this.ended;
  }

  /** @param sender is closed when the work has ended */
  protected listen(feed: RolloutFeed, work: ListenerWork, sender: { close(): Promise<void> }): void {
    this.removeHandlers = feed.onChange((key) => work.note(key));
    this.ended = work.run(this.stopper.signal).finally(() => sender.close());
  }
}

/** Sends CloudEvents of rollouts, if there is a sink, and Deployments are processed, and so watched. */
@Injectable()
export class RolloutEventSending extends RolloutListener implements OnModuleInit {
  /** Before the application starts: the manager fills the caches requested by then. */
  onModuleInit(): void {
    const { eventSinks } = this.options;
    const onResult = createRolloutEventMetrics(this.telemetry.metrics.meter);
    const definition = deploymentDefinition(this.options);
    if (eventSinks.length === 0 || !definition) return;
    const feed = new RolloutFeed(this.manager, this.options, () => this.clock.now());
    const sender = new UndiciSender(this.clock, () => undefined);
    const events = new RolloutEvents({
      ...{ sinks: eventSinks, sender, clock: this.clock, onResult },
      logger: this.telemetry.logger,
      signer: fileSigner(this.options['cloudevents-signing-key-file'], () => this.clock.now()),
      client: this.api.clients.clientFor(definition),
      keys: () => feed.keys(),
      viewOf: (ref) => feed.viewOf(ref),
      isLeader: () => this.manager.isLeader,
    });
    this.listen(feed, events, sender);
  }
}

/** Names the recorder of Events about channels. */
const COMPONENT = 'rollkeeper-notifications';

/** Notifies people of rollouts, if hosts are allowed, and Deployments are processed, and so watched. */
@Injectable()
export class RolloutNotifications extends RolloutListener implements OnModuleInit {
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
    this.listen(feed, notifications, sender);
  }
}
