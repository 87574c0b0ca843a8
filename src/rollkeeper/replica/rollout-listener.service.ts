import type { OnModuleDestroy } from '@nestjs/common';
import { Inject } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { ControllerManager } from '@rollkeeper/runtime';
import { KubernetesApi } from './kubernetes-api.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import type { RolloutFeed } from './rollout-feed.js';

/** The work that a listener does beside the controllers. */
interface ListenerWork {
  /** The Deployment of this key, or its rollout, may have changed. Never waits, never throws. */
  note(key: string): void;
  /** Resolves on abort. */
  run(signal: AbortSignal): Promise<unknown>;
}

/** A service that hears of all rollouts and reports them to others, until the application ends. */
export abstract class RolloutListener implements OnModuleDestroy {
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
