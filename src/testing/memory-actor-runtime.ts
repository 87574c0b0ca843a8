import type { ActorOptions } from '@rollkeeper/runtime/activation';
import { MemoryActorStore, StoredActorRuntime } from '@rollkeeper/runtime/activation';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';

interface MemoryActorRuntimeDependencies {
  clock: Clock;
  /** Shared by runtimes that simulate replicas of one installation. @default a store of its own */
  store?: MemoryActorStore;
  logger?: Logger;
  options?: ActorOptions;
}

/** The actor runtime without Redis, for tests and the conformance runner. */
export class MemoryActorRuntime extends StoredActorRuntime {
  constructor(dependencies: MemoryActorRuntimeDependencies) {
    const { clock, logger, options } = dependencies;
    let owners = 0;
    super({
      store: dependencies.store ?? new MemoryActorStore(clock, options),
      newOwner: () => `owner-${++owners}`,
      clock,
      logger,
      options,
    });
  }
}
