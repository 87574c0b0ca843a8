import type { ApiClient } from '@rollkeeper/client/api-client';
import { ApiConnectionError, apiStatusOf, isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { IllegalStateError, errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { Informer, ResourceEvent } from '@rollkeeper/client/informer';
import type {
  DeepReadonly,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '@rollkeeper/machinery/kubernetes';
import { claimNamesOf, isPodFinished, keyOf, parseKey, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { wantsScheduling } from './decide-scheduling.js';
import { isResizing, isShownDeferred } from './decide-resize.js';
import { KeyedExecutor } from './keyed-executor.js';
import { NodeLoads } from './node-loads.js';
import { isSilent, nodeName } from './node-object.js';
import { NodeRooms } from './node-rooms.js';
import { NodeRegistrar, ensureLeaseNamespace } from './node-registrar.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import { PodAddresses } from './pod-addresses.js';
import { PodRunner } from './pod-runner.js';
import { PodScheduler } from './pod-scheduler.js';
import { storageViewOf } from './pod-volumes.js';
import { WrittenPods } from './written-pods.js';

export interface NodeSimulatorDependencies {
  readonly client: ApiClient;
  /** Of all namespaces, untrimmed. */
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  readonly events: EventRecorder;
  /** Records events as the scheduler. */
  readonly schedulerEvents: EventRecorder;
  /** The clock of nodes and pods. */
  readonly clock: Clock;
  /** The clock of our own pauses: after a failed write, before rescheduling. @default clock */
  readonly pauses?: Clock;
  readonly logger: Logger;
}

/** Unschedulable pods are retried soon after room may have become available. */
const RESCHEDULE_DELAY_MS = 100;
const SWEEP_EVERY_MS = 30_000;
/** First pause between attempts to register; doubles up to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;

/** Simulates the scheduler and the kubelets of N nodes, using only the API. All its knowledge of pods is in the API. */
export class NodeSimulator {
  private readonly nodeIndexes: ReadonlyMap<string, number>;
  private readonly registrars: readonly NodeRegistrar[];
  private readonly addresses = new PodAddresses();
  private readonly loads = new NodeLoads();
  private readonly executor: KeyedExecutor;
  private readonly scheduler: PodScheduler;
  private readonly runner: PodRunner;
  private readonly newest: WrittenPods;
  private readonly pauses: Clock;
  /** Keys of pods whose resize waits for room. */
  private readonly deferred = new Set<string>();
  private rescheduling: TimerHandle | undefined;
  private isEverybodyDue = false;
  private started = false;

  constructor(
    private readonly dependencies: NodeSimulatorDependencies,
    private readonly options: CompiledNodeSimulatorOptions,
  ) {
    const { claims, classes, client, clock, logger, pods, nodes, volumes } = dependencies;
    this.pauses = dependencies.pauses ?? clock;
    const indexes = Array.from({ length: options.nodes }, (_, index) => index);
    this.nodeIndexes = new Map(indexes.map((index) => [nodeName(index), index]));
    this.registrars = indexes.map((index) => {
      const shown = () => nodes.lister.get(nodeName(index));
      return new NodeRegistrar(index, client, clock, logger, options, shown);
    });
    this.newest = new WrittenPods(pods.lister);
    this.scheduler = new PodScheduler({
      ...dependencies,
      events: dependencies.schedulerEvents,
      nodes: nodes.lister,
      nodeNames: [...this.nodeIndexes.keys()],
      loads: this.loads,
      storage: storageViewOf({
        claims: claims.lister,
        volumes: volumes.lister,
        classes: classes.lister,
      }),
    });
    const rooms = new NodeRooms(nodes.lister, pods.lister, this.newest);
    this.runner = new PodRunner({ ...dependencies, addresses: this.addresses, rooms, options });
    this.executor = new KeyedExecutor((key, signal) => this.play(key, signal), {
      concurrency: options.concurrency,
      clock,
      backoffClock: this.pauses,
      logger,
    });
  }

  /**
   * Registers the nodes, retrying while the server is too busy to answer. Call before {@link run}.
   * @throws what the server refuses; the signal's reason
   */
  async register(signal: AbortSignal): Promise<void> {
    await this.untilAnswered(() => ensureLeaseNamespace(this.dependencies.client, signal), signal);
    const waiting = [...this.registrars];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const registrar = next;
        await this.untilAnswered(() => registrar.register(signal), signal);
      }
    };
    await Promise.all(Array.from({ length: this.options.concurrency }, work));
  }

  private async untilAnswered(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)) {
      try {
        return await step();
      } catch (error) {
        if (signal.aborted || !isWithoutAnswer(error)) throw error;
        this.dependencies.logger.warn('nodes are not registered yet', {
          delayMs: pauseMs,
          error: errorMessage(error),
        });
      }
      await this.pauses.sleep(pauseMs, signal);
    }
  }

  /** Runs until aborted; the informers must have synced. A second call throws. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.started) throw new IllegalStateError('the simulated nodes are already running');
    this.started = true;
    const { claims, classes, pods, nodes, volumes } = this.dependencies;
    const removals = [
      pods.addEventHandler((event) => this.onPod(event)),
      nodes.addEventHandler((event) => this.onNode(event)),
      claims.addEventHandler(({ object }) => this.onClaim(object)),
      volumes.addEventHandler(() => this.rescheduleSoon('claimants')),
      classes.addEventHandler(() => this.rescheduleSoon('claimants')),
    ];
    try {
      const heartbeats = this.registrars.map((registrar) => registrar.run(signal));
      await Promise.all([this.executor.run(signal), this.sweep(signal), ...heartbeats]);
    } finally {
      removals.forEach((remove) => remove());
      this.rescheduling?.cancel();
    }
  }

  private async play(key: string, signal: AbortSignal): Promise<{ wakeInMs?: number }> {
    let pod = this.newest.get(key);
    if (pod && wantsScheduling(pod)) pod = await this.place(key, pod, signal);
    const nodeIndex = this.nodeIndexes.get(pod?.spec.nodeName ?? '');
    if (!pod || nodeIndex === undefined || this.isSilent(pod.spec.nodeName)) return {};
    const { written, wakeInMs } = await this.runner.step(pod, nodeIndex, signal);
    if (written) this.newest.set(key, written);
    if (isShownDeferred(written ?? pod)) this.deferred.add(key);
    else this.deferred.delete(key);
    return { wakeInMs };
  }

  private isSilent(node: string | undefined): boolean {
    return isSilent(this.dependencies.nodes.lister.get(node ?? ''));
  }

  private async place(
    key: string,
    pod: DeepReadonly<Pod>,
    signal: AbortSignal,
  ): Promise<DeepReadonly<Pod> | undefined> {
    try {
      const bound = await this.scheduler.schedule(key, pod, signal);
      if (bound) this.newest.set(key, bound);
      return bound;
    } catch (error) {
      // Deleted, or bound already: its own event follows.
      if (isNotFound(error) || isConflict(error)) return undefined;
      throw error;
    }
  }

  private onPod(event: ResourceEvent<Pod>): void {
    const pod = event.object;
    const key = keyOf(pod.metadata);
    const { nodeName: node = '' } = pod.spec;
    if (event.type === 'deleted') {
      this.forget(key, pod);
      return;
    }
    if (node !== '') {
      if (!this.nodeIndexes.has(node)) return;
      this.loads.place(key, pod, node);
      if (event.type === 'modified' && hasFreedRoom(event.old, pod)) this.rescheduleSoon();
      if (pod.status?.podIP) this.addresses.learn(pod.metadata.uid ?? '', pod.status.podIP);
    }
    this.executor.add(key);
  }

  private forget(key: string, pod: DeepReadonly<Pod>): void {
    this.newest.delete(key);
    this.deferred.delete(key);
    this.loads.remove(key);
    this.runner.forget(pod.metadata.uid ?? '');
    this.scheduler.forget(key);
    this.rescheduleSoon();
  }

  private onNode(event: ResourceEvent<Node>): void {
    if (event.type === 'modified') {
      const { old, object } = event;
      if (isSilent(old) && !isSilent(object)) this.resume(object.metadata.name);
      const same =
        sameJson(old.spec, object.spec) &&
        sameJson(old.metadata.labels, object.metadata.labels) &&
        sameJson(old.status?.allocatable, object.status?.allocatable);
      if (same) return;
    }
    this.rescheduleSoon();
  }

  private onClaim({ metadata: { name, namespace } }: DeepReadonly<PersistentVolumeClaim>): void {
    for (const key of this.scheduler.waiting)
      if (parseKey(key).namespace === namespace && this.claimsOf(key).includes(name)) this.executor.add(key);
  }

  /** A silent node has missed the changes of its pods. */
  private resume(node: string): void {
    for (const { metadata, spec } of this.dependencies.pods.lister.list())
      if (spec.nodeName === node) this.executor.add(keyOf(metadata));
  }

  /** Volumes do not matter to pods without claims, of which a full cluster may have many waiting. */
  private rescheduleSoon(whose: 'all' | 'claimants' = 'all'): void {
    if (this.scheduler.waiting.size + this.deferred.size === 0) return;
    if (whose === 'all') this.isEverybodyDue = true;
    this.rescheduling ??= this.pauses.setTimeout(() => {
      const isEverybodyDue = this.isEverybodyDue;
      this.rescheduling = undefined;
      this.isEverybodyDue = false;
      for (const key of this.scheduler.waiting)
        if (isEverybodyDue || this.claimsOf(key).length > 0) this.executor.add(key);
      if (isEverybodyDue) for (const key of this.deferred) this.executor.add(key);
    }, RESCHEDULE_DELAY_MS);
  }

  private claimsOf(key: string): readonly string[] {
    const pod = this.newest.get(key);
    return pod ? claimNamesOf(pod) : [];
  }

  /** A safety net below the events: nothing waits forever because of a missed event. */
  private async sweep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.pauses.sleep(SWEEP_EVERY_MS, signal);
      } catch {
        return;
      }
      for (const key of this.scheduler.waiting) this.executor.add(key);
    }
  }
}

/** Whether a pod came to its end, or a resize of it, which may have made it smaller. */
function hasFreedRoom(old: DeepReadonly<Pod>, pod: DeepReadonly<Pod>): boolean {
  if (isPodFinished(pod)) return !isPodFinished(old);
  return isResizing(old.status ?? {}) && !isResizing(pod.status ?? {});
}

/** The request was not judged: the server did not answer, was overloaded, or failed. */
function isWithoutAnswer(error: unknown): boolean {
  const code = apiStatusOf(error)?.code;
  if (code === undefined) return hasCode(error, 'TIMEOUT') || error instanceof ApiConnectionError;
  return code === 429 || code >= 500;
}
