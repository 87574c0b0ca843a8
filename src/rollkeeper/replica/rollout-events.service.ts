import type { OnModuleInit } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { UndiciSender, fileSigner } from '@rollkeeper/controllers/deployment';
import { createRolloutEventMetrics } from './app-metrics.js';
import { RolloutEvents } from '../insight/events/index.js';
import { RolloutFeed } from './rollout-feed.js';
import { RolloutListener } from './rollout-listener.service.js';
import { deploymentDefinition } from './watched-deployments.js';

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
