import type { OnModuleInit } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { UndiciSender, channelsOf, hostProblem } from '@rollkeeper/controllers/deployment';
import { createNotificationMetrics } from './app-metrics.js';
import { Notifications, smtpSender } from '../insight/notifications/index.js';
import { RolloutFeed } from './rollout-feed.js';
import { RolloutListener } from './rollout-listener.service.js';
import { deploymentDefinition } from './watched-deployments.js';

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
