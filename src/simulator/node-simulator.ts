import type { ApiClient } from '@rollkeeper/client/api-client';
import { ApiConnectionError, apiStatusOf } from '@rollkeeper/client/api-client';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { IllegalStateError, errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { Informer, Lister, ResourceEvent } from '@rollkeeper/client/informer';
import type { DeepReadonly, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { compareResourceVersions, isPodFinished, keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { decideAdmission } from './decide-admission.js';
import { isResizing, isShownDeferred } from './decide-resize.js';
import { KeyedExecutor } from './keyed-executor.js';
import { isSilent } from './node-behaviour.js';
import { NodeKeeper, isAskedAnew } from './node-keeper.js';
import { nodeName } from './node-object.js';
import { profileOf } from './node-profile.js';
import { NodeRooms } from './node-rooms.js';
import { NodeRegistrar, ensureLeaseNamespace } from './node-registrar.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import type { NodeVerdict } from './node-verdict.js';
import { PodAddresses } from './pod-addresses.js';
import { PodRunner } from './pod-runner.js';
import type { PodSources } from './pod-sources.js';

export interface NodeSimulatorDependencies {
  readonly client: ApiClient;
  /** The pods of all namespaces, untrimmed. */
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly events: EventRecorder;
  /** The objects that pods refer to. @default all exist */
  readonly sources?: PodSources;
  /** The clock of nodes and pods. */
  readonly clock: Clock;
  /** The clock of our own pauses, after a failed write. @default clock */
  readonly pauses?: Clock;
  readonly logger: Logger;
}

/** Resizes without room are retried this long after room may have become free. */
const RETRY_DELAY_MS = 100;
/** First pause between attempts to register; doubles up to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;

/** Simulates the kubelets of N nodes, using only the API. All its knowledge of pods is in the API. */
export class NodeSimulator {
  private readonly nodeIndexes: ReadonlyMap<string, number>;
  private readonly registrars: readonly NodeRegistrar[];
  private readonly addresses = new PodAddresses();
  private readonly executor: KeyedExecutor;
  private readonly nodeExecutor: KeyedExecutor;
  private readonly keeper: NodeKeeper;
  private readonly rooms: NodeRooms;
  private readonly runner: PodRunner;
  private readonly newest: WrittenPods;
  private readonly pauses: Clock;
  /** Keys of pods whose resize waits for room. */
  private readonly deferred = new Set<string>();
  private retrying: TimerHandle | undefined;
  private started = false;

  constructor(
    private readonly dependencies: NodeSimulatorDependencies,
    private readonly options: CompiledNodeSimulatorOptions,
  ) {
    const { clock, events, logger, pods, nodes } = dependencies;
    this.pauses = dependencies.pauses ?? clock;
    const indexes = Array.from({ length: options.nodes }, (_, index) => index);
    this.nodeIndexes = new Map(indexes.map((index) => [nodeName(index), index]));
    this.newest = new WrittenPods(pods.lister);
    this.rooms = new NodeRooms(nodes.lister, pods.lister, this.newest);
    this.keeper = new NodeKeeper({
      ...{ clock, events, newest: this.newest, nodes: nodes.lister, pods: pods.lister },
      profileOf: (node) => profileOf(this.nodeIndexes.get(node) ?? 0, options.profiles),
      report: async (node, signal) => this.registrars[this.nodeIndexes.get(node) ?? 0]?.report(signal),
      wakePod: (key) => this.executor.add(key),
    });
    this.registrars = indexes.map((index) => this.registrarOf(index));
    this.runner = new PodRunner({
      ...dependencies,
      ...{ addresses: this.addresses, rooms: this.rooms, options },
      admit: (pod) => this.admit(pod),
      missingOf: (pod) => dependencies.sources?.missingOf(pod),
      verdictOn: (uid) => this.keeper.verdictOn(uid),
    });
    const paced = { concurrency: options.concurrency, clock, backoffClock: this.pauses, logger };
    this.executor = new KeyedExecutor((key, signal) => this.play(key, signal), paced);
    this.nodeExecutor = new KeyedExecutor((name, signal) => this.keep(name, signal), paced);
  }

  private registrarOf(index: number): NodeRegistrar {
    const name = nodeName(index);
    const { client, clock, events, logger, nodes } = this.dependencies;
    return new NodeRegistrar(
      index,
      {
        ...{ client, clock, events, logger },
        shown: () => nodes.lister.get(name),
        troubles: () => this.keeper.troublesOf(name),
        isOff: () => this.keeper.isOff(name),
      },
      this.options,
    );
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
    const { pods, nodes, sources } = this.dependencies;
    const removals = [
      ...(sources ? [sources.onChange((key) => this.executor.add(key))] : []),
      pods.addEventHandler((event) => this.onPod(event)),
      nodes.addEventHandler((event) => this.onNode(event)),
    ];
    try {
      const heartbeats = this.registrars.map((registrar) => registrar.run(signal));
      await Promise.all([this.executor.run(signal), this.nodeExecutor.run(signal), ...heartbeats]);
    } finally {
      removals.forEach((remove) => remove());
      this.retrying?.cancel();
    }
  }

  private async play(key: string, signal: AbortSignal): Promise<{ wakeInMs?: number }> {
    const pod = this.newest.get(key);
    const nodeIndex = this.nodeIndexes.get(pod?.spec.nodeName ?? '');
    if (!pod) this.deferred.delete(key);
    if (!pod || nodeIndex === undefined || this.isSilent(pod.spec.nodeName)) return {};
    const { written, wakeInMs } = await this.runner.step(pod, nodeIndex, signal);
    if (written) this.newest.set(key, written);
    if (isShownDeferred(written ?? pod)) this.deferred.add(key);
    else this.deferred.delete(key);
    return { wakeInMs };
  }

  private async keep(name: string, signal: AbortSignal): Promise<{ wakeInMs?: number }> {
    const wasOff = this.keeper.isOff(name);
    const next = await this.keeper.step(name, signal);
    if (wasOff && !this.keeper.isOff(name)) this.resume(name);
    return next;
  }

  private admit(pod: DeepReadonly<Pod>): NodeVerdict | undefined {
    const { nodes, pods } = this.dependencies;
    const { nodeName: name = '' } = pod.spec;
    const node = nodes.lister.get(name);
    if (!node) return undefined;
    const isNeighbour = ({ metadata, spec, status }: DeepReadonly<Pod>): boolean =>
      spec.nodeName === name && metadata.uid !== pod.metadata.uid && !isPodFinished({ status });
    return decideAdmission(pod, {
      node,
      troubles: this.keeper.troublesOf(name),
      room: () => this.rooms.of(pod),
      neighbours: () => pods.lister.list().filter(isNeighbour),
    });
  }

  private isSilent(node = ''): boolean {
    return isSilent(this.dependencies.nodes.lister.get(node)) || this.keeper.isOff(node);
  }

  private onPod(event: ResourceEvent<Pod>): void {
    const pod = event.object;
    const key = keyOf(pod.metadata);
    if (event.type === 'deleted') {
      this.newest.delete(key);
      this.deferred.delete(key);
      this.dependencies.sources?.forget(key);
      this.runner.forget(pod.metadata.uid ?? '');
      this.keeper.forget(pod.metadata.uid ?? '');
      // Drops the key's timer, which may be due in a day.
      this.executor.add(key);
      this.retryDeferredSoon();
      return;
    }
    const { nodeName: node = '' } = pod.spec;
    if (!this.nodeIndexes.has(node)) return;
    if (this.keeper.concerns(pod)) this.nodeExecutor.add(node);
    if (event.type === 'modified' && hasFreedRoom(event.old, pod)) this.retryDeferredSoon();
    if (pod.status?.podIP) this.addresses.learn(pod.metadata.uid ?? '', pod.status.podIP);
    this.executor.add(key);
  }

  private onNode(event: ResourceEvent<Node>): void {
    const { name } = event.object.metadata;
    if (!this.nodeIndexes.has(name) || event.type === 'deleted') return;
    if (event.type === 'added') this.nodeExecutor.add(name);
    if (event.type !== 'modified') return;
    const { old, object } = event;
    if (isAskedAnew(old, object)) this.nodeExecutor.add(name);
    if (isSilent(old) && !isSilent(object)) this.resume(object.metadata.name);
    if (!sameJson(old.status?.allocatable, object.status?.allocatable)) this.retryDeferredSoon();
  }

  /** A silent node has missed the changes of its pods. */
  private resume(node: string): void {
    for (const { metadata, spec } of this.dependencies.pods.lister.list())
      if (spec.nodeName === node) this.executor.add(keyOf(metadata));
  }

  private retryDeferredSoon(): void {
    if (this.deferred.size === 0) return;
    this.retrying ??= this.pauses.setTimeout(() => {
      this.retrying = undefined;
      for (const key of this.deferred) this.executor.add(key);
    }, RETRY_DELAY_MS);
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

type ReadablePod = DeepReadonly<Pod>;

/** The newest known states of pods: from the cache, or from our own writes while the cache lags behind. */
export class WrittenPods {
  private readonly written = new Map<string, ReadablePod>();

  constructor(private readonly lister: Pick<Lister<Pod>, 'get'>) {}

  get(key: string): ReadablePod | undefined {
    const cached = this.lister.get(key);
    const own = this.written.get(key);
    if (!own) return cached;
    if (cached && cached.metadata.uid === own.metadata.uid && !isNewer(cached, own)) return own;
    this.written.delete(key);
    return cached;
  }

  /** Ignored if the cache does not show the pod: it was deleted during the write, and nothing would remove it here. */
  set(key: string, pod: ReadablePod): void {
    if (this.lister.get(key)?.metadata.uid === pod.metadata.uid) this.written.set(key, pod);
  }

  delete(key: string): void {
    this.written.delete(key);
  }
}

function isNewer(a: ReadablePod, b: ReadablePod): boolean {
  const order = compareResourceVersions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '');
  // If versions are not comparable, the watch wins.
  return order === undefined || order > 0;
}
