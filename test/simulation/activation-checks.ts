import type { Informer } from '../../src/client/informer/index.js';
import type { Activation, ActorRuntime } from '../../src/runtime/activation/index.js';
import type { SyncObserver } from '../../src/runtime/index.js';
import { namespaceOfItem } from '../../src/controllers/garbage-collector/item-key.js';
import { newerResourceVersion, parseKey, qualifiedResource } from '../../src/machinery/kubernetes/index.js';
import type { SimulatedProcess } from '../../src/testing/simulation/index.js';
import type { Violation } from '../chaos/checkers/violation.js';

/** State of an actor that was settled is kept for so long: then every cache shows it. A little less, milliseconds. */
const REMEMBERED_MS = 55_000;
const MICROS_PER_MS = 1000;

interface Actor {
  token: number;
  /** The process that may write. */
  process: SimulatedProcess | undefined;
  /** The activation that began last has ended, and its end was confirmed. */
  hasEnded: boolean;
  /** By resource, the newest version that an activation wrote whose end was confirmed. */
  readonly written: Map<string, { readonly version: string; readonly atMs: number }>;
}

/**
 * Checks each key: once an activation has begun, none with an older token writes; and no decision is made before the
 * caches of its replica show what earlier activations wrote.
 */
export class ActivationChecks {
  checks = 0;
  private readonly actors = new Map<string, Actor>();

  constructor(
    private readonly found: (violation: Violation) => void,
    /** The caches that a controller decides by. */
    private readonly cachesOf: (process: SimulatedProcess, controller: string) => readonly Informer[],
    /** The wall clock of the store, milliseconds. */
    private readonly storeNowMs: () => number,
  ) {}

  /** Watches the activations of a process. */
  watch(process: SimulatedProcess, actors: ActorRuntime): ActorRuntime {
    return {
      recordCauses: (controller, key, causes) => actors.recordCauses(controller, key, causes),
      activate: async (controller, key, signal, work, options) => {
        const wrote = new Map<string, string>();
        const result = await actors.activate(
          controller,
          key,
          signal,
          (activation) => {
            this.begin(process, activation);
            return work(this.watched(activation, wrote));
          },
          options,
        );
        const actor = this.actorOf(`${controller} ${key}`);
        const { written } = actor;
        if (actor.process === process) actor.hasEnded = true;
        const atMs = process.kernel.nowMs;
        for (const [resource, version] of wrote) {
          const before = written.get(resource)?.version;
          written.set(resource, { version: before ? newerResourceVersion(before, version) : version, atMs });
        }
        return result;
      },
    };
  }

  /** Watches the decisions of a process. */
  observer(process: SimulatedProcess): SyncObserver {
    return {
      begin: ({ controller, key }) => ({
        decided: () => this.decided(process, controller, key),
      }),
    };
  }

  private begin(process: SimulatedProcess, { controller, key, token }: Activation): void {
    const name = `${controller} ${key}`;
    const actor = this.actorOf(name);
    this.checks += 1;
    if (token <= actor.token && !this.mayBeForgotten(actor))
      this.report('activations', name, `token ${token} began after token ${actor.token}`);
    actor.token = token;
    actor.process = process;
    actor.hasEnded = false;
  }

  /**
   * Redis makes a token of the time, if it has forgotten the key. So a token may be smaller than one before if the clock of Redis
   * has gone back meanwhile. Nothing is forgotten of an activation that has not ended, and none that has ended writes.
   */
  private mayBeForgotten({ hasEnded, process, token }: Actor): boolean {
    return (hasEnded || process?.isAlive === false) && token / MICROS_PER_MS > this.storeNowMs();
  }

  private watched(activation: Activation, wrote: Map<string, string>): Activation {
    const name = `${activation.controller} ${activation.key}`;
    const assertHeld = (): void => {
      activation.assertHeld();
      this.checks += 1;
      const { process, token } = this.actorOf(name);
      if (activation.token === token) return;
      const problem = `token ${activation.token} writes after ${process?.name} has token ${token}`;
      this.report('activations', name, problem);
    };
    const recordOwnWrite = (resource: string, version: string): void => {
      wrote.set(resource, newerResourceVersion(wrote.get(resource) ?? version, version));
      activation.recordOwnWrite(resource, version);
    };
    return new Proxy(activation, {
      get(target, property) {
        if (property === 'assertHeld') return assertHeld;
        if (property === 'recordOwnWrite') return recordOwnWrite;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
  }

  private decided(process: SimulatedProcess, controller: string, key: string): void {
    const name = `${controller} ${key}`;
    const actor = this.actorOf(name);
    // A process that was paused goes on with an activation that another has overtaken. It may decide, but not write.
    if (actor.process !== process) return;
    const caches = this.cachesOf(process, controller);
    // The keys of the garbage collector have a namespace of their own form; those of the others are left as they are.
    const namespace = namespaceOfItem(parseKey(key));
    for (const [resource, { atMs, version }] of actor.written) {
      const cache = cacheOf(caches, resource);
      if (!cache || process.kernel.nowMs - atMs > REMEMBERED_MS) continue;
      this.checks += 1;
      if (cache.hasSeen(version, namespace === undefined ? {} : { namespace })) continue;
      this.report('own writes', name, `${process.name} decides before it has seen ${resource} at ${version}`);
    }
  }

  private actorOf(name: string): Actor {
    const known = this.actors.get(name) ?? {
      ...{ token: 0, process: undefined, hasEnded: true },
      written: new Map(),
    };
    this.actors.set(name, known);
    return known;
  }

  private report(check: string, subject: string, problem: string): void {
    this.found({ check, subject, problem });
  }
}

/** One controller may cache a kind whole, and another a part of it. Only controllers that cache a part write what is cached twice. */
function cacheOf(caches: readonly Informer[], resource: string): Informer | undefined {
  const all = caches.filter(({ type }) => qualifiedResource(type) === resource);
  return all.find(({ type }) => 'part' in type && type.part !== undefined) ?? all[0];
}
