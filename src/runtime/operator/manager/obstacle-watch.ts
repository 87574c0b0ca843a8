import { LinkedAbort, aborted } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import type { InformerFactory, ResourceEvent } from '@rollkeeper/client/informer';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { Obstacle, ObstructedKeys } from '../../controller/index.js';
import { OBSTACLES, isObstructed, scopeOf } from '../../controller/index.js';
import type { Runnable } from '../../manager/index.js';
import type { KeyView, WorkQueue, WorkQueueInspector } from '../../work-queue/index.js';
import { PROBE_EVERY_MS, RefusalProbes } from './refusal-probes.js';
import type { RefusedKey } from './refusal-probes.js';

type Queue = Pick<WorkQueue, 'name' | 'add'> & Pick<WorkQueueInspector, 'inspectKey'>;

interface ObstacleWatchDependencies {
  readonly informers: Pick<InformerFactory, 'metadataInformerFor'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default OBSTACLES */
  readonly obstacles?: readonly Obstacle[];
}

/** Keys of one controller remembered by a replica. Beyond it, a key has its backoff alone. */
const MOST_KEYS = 10_000;
/** Keys that are looked up and added at the same time. */
const KEYS_AT_ONCE = 50;
/** When to try again after a change: API servers notice a changed policy or webhook a moment after its watchers do. */
const ROUNDS_MS = [0, 1000, 4000] as const;
/** How long the watches stay open after the last key has succeeded. */
const LINGER_MS = 60_000;
/** Types that may not be listed, or are not served, usually stay so. */
const REFUSED_BACKOFF_MS = 300_000;

/** The scope of changes that matter in every namespace. */
const EVERYWHERE = '';

/**
 * Wakes keys whose writes the API server refuses as soon as something changes that may be the reason: a label of the
 * namespace, a policy, a webhook configuration, a missing class or account. Otherwise such a key would wait for its
 * backoff or, once it is parked, for minutes.
 *
 * What a policy's parameters or a webhook's server say cannot be watched: see {@link RefusalProbes}.
 *
 * Each replica remembers the keys whose runs failed here, and watches only while there are some: where nothing is
 * refused, this costs nothing. What a stopped replica remembered is left to the backoff.
 */
export class ObstacleWatch implements Runnable {
  private readonly waiting = new Map<string, Set<string>>();
  private readonly queues = new Map<string, Queue>();
  private signal?: AbortSignal;
  private watching?: { readonly stop: AbortController; readonly ended: Promise<unknown> };
  private lingering?: TimerHandle;
  /** Scopes that are being woken; `true`: it has changed again. */
  private readonly rounds = new Map<string, boolean>();

  private readonly probes: RefusalProbes;

  constructor(private readonly deps: ObstacleWatchDependencies) {
    this.probes = new RefusalProbes({
      clock: deps.clock,
      probe: (refused) => this.quietly(() => this.probe(refused)),
      wake: ({ controller, key }) =>
        this.quietly(async () => {
          const keys = this.waiting.get(controller);
          if (keys?.has(key)) await this.wakeKey(controller, keys, key);
        }),
    });
  }

  /** A controller's report of its runs on this replica. */
  keysOf(queue: Queue): ObstructedKeys {
    const keys = new Set<string>();
    this.waiting.set(queue.name, keys);
    this.queues.set(queue.name, queue);
    return {
      failed: (key, error) => {
        if (!isObstructed(error)) {
          this.probes.drop({ controller: queue.name, key });
          return this.drop(keys, key);
        }
        if (keys.size < MOST_KEYS) keys.add(key);
        if (keys.has(key)) this.probes.refused({ controller: queue.name, key }, error);
        this.watch();
      },
      succeeded: (key) => this.noteSuccess(queue.name, keys, key),
    };
  }

  /** Whether the obstacles are being watched. */
  get isWatching(): boolean {
    return this.watching !== undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    if (this.hasKeys) this.watch();
    await aborted(signal);
    this.lingering?.cancel();
    this.probes.stop();
    await this.watching?.ended;
  }

  private get hasKeys(): boolean {
    return [...this.waiting.values()].some(({ size }) => size > 0);
  }

  private noteSuccess(controller: string, keys: Set<string>, key: string): void {
    this.drop(keys, key);
    this.probes.accepted({ controller, key });
  }

  private drop(keys: Set<string>, key: string): void {
    if (!keys.delete(key) || this.hasKeys || !this.watching || this.lingering) return;
    this.lingering = this.deps.clock.setTimeout(() => {
      this.lingering = undefined;
      if (this.hasKeys) return;
      this.watching?.stop.abort();
      this.watching = undefined;
    }, LINGER_MS);
  }

  private watch(): void {
    if (this.watching || !this.signal || this.signal.aborted) return;
    const stop = new AbortController();
    const either = new LinkedAbort(this.signal, stop.signal);
    const { obstacles = OBSTACLES } = this.deps;
    const followed = obstacles.map((obstacle) => this.follow(obstacle, either.signal));
    const ended = Promise.all(followed.map((each) => each.ended)).finally(() => either.close());
    this.watching = { stop, ended };
    // The obstacle may have gone before it was watched.
    Promise.all(followed.map(({ informer }) => informer.waitUntilSettled(either.signal)))
      .then(() => this.wakeAll(EVERYWHERE))
      .catch((error: unknown) => this.tellUnwoken(error, either.signal));
  }

  private follow({ mayClear, type }: Obstacle, signal: AbortSignal) {
    const { informer, isShared } = this.deps.informers.metadataInformerFor(type, {
      keep: keepMarks,
      // A replica that may not list the type has the backoff.
      logger: silentLogger,
      maxRefusedBackoffMs: REFUSED_BACKOFF_MS,
    });
    const removeHandler = informer.addEventHandler((event: ResourceEvent<KubernetesObject>) => {
      if (event.type === 'added' && event.initial) return;
      if (mayClear(event)) this.wake(scopeOf(type, event.object) ?? EVERYWHERE, signal);
    });
    const running = isShared ? aborted(signal) : informer.run(signal);
    return { informer, ended: running.finally(removeHandler) };
  }

  private wake(scope: string, signal: AbortSignal): void {
    const isRunning = this.rounds.has(scope);
    this.rounds.set(scope, isRunning);
    if (!isRunning) void this.wakeInRounds(scope, signal);
  }

  private async wakeInRounds(scope: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    for (let round = 0; round < ROUNDS_MS.length; round++) {
      if (!(await pause(clock, ROUNDS_MS[round] ?? 0, signal))) break;
      if (this.rounds.get(scope) === true && round > 0) round = 0;
      this.rounds.set(scope, false);
      await this.wakeAll(scope).catch((error: unknown) => this.tellUnwoken(error, signal));
    }
    this.rounds.delete(scope);
  }

  private async wakeAll(scope: string): Promise<void> {
    for (const [controller, keys] of this.waiting) {
      const concerned = [...keys].filter((key) => scope === EVERYWHERE || mayLieIn(scope, key));
      for (let from = 0; from < concerned.length; from += KEYS_AT_ONCE) {
        const some = concerned.slice(from, from + KEYS_AT_ONCE);
        await Promise.all(some.map((key) => this.wakeKey(controller, keys, key)));
      }
    }
  }

  private tellUnwoken(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.deps.logger.warn('keys that were refused could not be woken; they have their backoff', { error });
  }

  /** A single attempt, which leaves the key parked, and its backoff as it is, if it fails. */
  private async probe({ controller, key }: RefusedKey): Promise<void> {
    const queue = this.queues.get(controller);
    const keys = this.waiting.get(controller);
    if (!queue || !keys) return;
    const view = await queue.inspectKey(key);
    if (view.failures === 0 && !view.parked) return this.noteSuccess(controller, keys, key);
    const isSetAside = view.parked !== undefined && view.parked.nextTryMs === undefined;
    if (isSetAside || isDueSoon(view, this.deps.clock.now())) return;
    await queue.add(key, { reason: 'parked', priority: 'low' });
  }

  private async quietly(act: () => Promise<void>): Promise<void> {
    await act().catch((error: unknown) => {
      if (this.signal && !this.signal.aborted) this.tellUnwoken(error, this.signal);
    });
  }

  private async wakeKey(controller: string, keys: Set<string>, key: string): Promise<void> {
    const queue = this.queues.get(controller);
    if (!queue) return;
    const { failures, parked } = await queue.inspectKey(key);
    // Another replica has had success with it.
    if (failures === 0 && !parked) return this.noteSuccess(controller, keys, key);
    const isSetAside = parked !== undefined && parked.nextTryMs === undefined;
    if (!isSetAside) await queue.add(key, { reason: 'child-change' });
  }
}

/** Whether a key has a run soon enough without us. */
function isDueSoon({ delayed, hasJob, parked, waiting }: KeyView, nowMs: number): boolean {
  if (waiting !== undefined || (hasJob && !delayed)) return true;
  return !parked && delayed !== undefined && delayed.dueMs - nowMs < PROBE_EVERY_MS;
}

/** Keys of cluster-scoped objects, and of controllers with keys of their own form, may depend on any namespace. */
function mayLieIn(namespace: string, key: string): boolean {
  const { namespace: own } = parseKey(key);
  return own === undefined || own === namespace || own.includes('|');
}

/** Keeps only the parts of an object by which changes are judged. */
function keepMarks<T extends KubernetesObject>({ apiVersion, kind, metadata }: T): T {
  const { annotations, generation, labels, name, namespace, resourceVersion, uid } = metadata;
  const kept = { name, namespace, uid, resourceVersion, generation, labels, annotations };
  return { apiVersion, kind, metadata: kept } as unknown as T;
}
