import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { UndiciSender, fileSigner } from '@rollkeeper/controllers/deployment';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { ControllerManager } from '@rollkeeper/runtime';
import { createRolloutEventMetrics } from './app-metrics.js';
import { RolloutEvents } from '../insight/events/index.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { RolloutFeed } from './rollout-feed.js';
import { deploymentDefinition } from './watched-deployments.js';

/** Sends CloudEvents of rollouts, if there is a sink, and Deployments are processed, and so watched. */
@Injectable()
export class RolloutEventSending implements OnModuleInit, OnModuleDestroy {
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
    this.removeHandlers = feed.onChange((ref) => events.note(ref));
    this.ended = events.run(this.stopper.signal).finally(() => sender.close());
  }

  async onModuleDestroy(): Promise<void> {
    this.removeHandlers?.();
    this.stopper.abort();
    await this.ended;
  }
}
