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

/** Of a write that is recorded twice the first time counts. */
function addUnanswered(entry: Entry, writes: readonly UnansweredWrite[], recordedAtMs?: number): void {
  for (const text of writes.map(encodeUnansweredWrite))
    if (!entry.unanswered.has(text)) entry.unanswered.set(text, recordedAtMs);
}

function nameOf(id: ActorId): string {
  return `${id.controller} ${id.key}`;
}

function idOf(name: string): ActorId {
  const space = name.indexOf(' ');
  return { controller: name.slice(0, space), key: name.slice(space + 1) };
}
