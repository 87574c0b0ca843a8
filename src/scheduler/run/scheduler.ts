import { randomUUID } from 'node:crypto';
import type { Tracer } from '@opentelemetry/api';
import { trace } from '@opentelemetry/api';
import type { Informer } from '@rollkeeper/client/informer';
import { LinkedAbort, abortable, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { doublingDelayMs, nextTurn } from '@rollkeeper/machinery/clock';
import { IllegalStateError, ShutdownError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Node, Pod } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { SchedulerCache } from '../cache/scheduler-cache.js';
import { buildProfiles } from '../config/build-profiles.js';
import type { SchedulerConfiguration } from '../config/compile-configuration.js';
import { defaultConfiguration } from '../config/compile-configuration.js';
import type { SchedulerPluginDefinition } from '../framework/define-scheduler-plugin.js';
import { HttpExtender } from '../extender/http-extender.js';
import type { ClusterView } from '../framework/cluster-view.js';
import type { CompileDeviceSelector } from '../framework/device-selector.js';
import type { FreedClaim, PluginFactory } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { ReadablePod } from '../framework/node-info.js';
import type { QueueName } from '../queue/queue-metrics.js';
import { SchedulingQueue } from '../queue/scheduling-queue.js';
import type { QueueProfile } from '../queue/scheduling-queue.js';
import { AssumedObjects } from './assumed-objects.js';
import { bindingClaims, freeClaim } from './bind-claims.js';
import { ExtendedClaims } from './bind-extended-claim.js';
import { bindingVolumes } from './bind-volumes.js';
import { ChangeSignal } from './change-signal.js';
import { ClusterCaches } from './cluster-caches.js';
import { WITHOUT_BINDING, catalogOf } from './default-catalog.js';
import { defaultBinder } from './default-binder.js';
import { followCluster } from './follow-cluster.js';
import type { SchedulerMetrics } from './metrics.js';
import { noSchedulerMetrics } from './metrics.js';
import { PodAttempts } from './pod-attempts.js';
import { PodStatusWriter } from './pod-status-writer.js';
import { Preemptions } from './preemptions.js';
import { servedResources } from './served-resources.js';
import { PermitQueue } from './waiting-pods.js';

export interface SchedulerOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Records Events as the scheduler of that name. */
  readonly eventsOf: (schedulerName: string) => EventRecorder;
  /** @default the default profile of kube-scheduler 1.36 */
  readonly configuration?: SchedulerConfiguration;
  /** On beside the default ones, unless the configuration says otherwise. @default none */
  readonly plugins?: readonly SchedulerPluginDefinition[];
  /** Caches of whole pods and nodes that run already. @default its own */
  readonly caches?: { readonly pods: Informer<Pod>; readonly nodes: Informer<Node> };
  /** @default none */
  readonly metrics?: SchedulerMetrics;
  /** @default OpenTelemetry's global one */
  readonly tracer?: Tracer;
  /** Evaluates the CEL expressions of device classes and claims. @default none: a pod whose devices are selected by one fails */
  readonly compileDeviceSelector?: CompileDeviceSelector;
  /** In its place: called once, when the cluster has its first devices. CEL takes memory that most clusters have no use for. */
  readonly loadDeviceSelector?: () => Promise<CompileDeviceSelector>;
  /** Ids of devices that several claims share. @default random UUIDs */
  readonly newShareId?: () => string;
  /** Throws once another may schedule: asked before each binding is sent. @default never */
  readonly assertMayWrite?: () => void;
}

const DISCOVERY_RETRY = { firstMs: 200, longestMs: 5000 };
/** Decisions give way to everything else after this time. */
const TURN_MS = 5;

/**
 * kube-scheduler: finds a node for each pod that names one of its profiles, and binds it there. {@link follow} keeps its knowledge warm;
 * {@link schedule} does the work, as often as it leads.
 */
export class Scheduler {
  private readonly cache = new SchedulerCache();
  private readonly configuration: SchedulerConfiguration;
  private readonly metrics: SchedulerMetrics;
  private parts: Parts | undefined;
  private compileDeviceSelector: CompileDeviceSelector | undefined;
  private isFollowing = false;
  private readonly followed = Promise.withResolvers<void>();

  private readonly compileLoaded: CompileDeviceSelector = (expression) => {
    if (!this.compileDeviceSelector) throw new IllegalStateError('the selectors of devices are not loaded');
    return this.compileDeviceSelector(expression);
  };

  /** @throws InvalidOptionError naming the field of the configuration */
  constructor(private readonly options: SchedulerOptions) {
    this.configuration = options.configuration ?? defaultConfiguration();
    this.metrics = options.metrics ?? noSchedulerMetrics;
    this.compileDeviceSelector = options.compileDeviceSelector;
    this.followed.promise.catch(() => undefined);
    // Wrong arguments are found before anything runs.
    this.compile({ get: () => undefined, list: () => [] });
  }

  get schedulerNames(): readonly string[] {
    return this.configuration.profiles.map(({ schedulerName }) => schedulerName);
  }

  /** Its own caches, once it follows the cluster. */
  get informers(): readonly Informer[] {
    return this.parts?.caches.informers ?? [];
  }

  /** The numbers of pods that wait, by queue. */
  get pending(): Readonly<Record<QueueName, number>> {
    return this.parts?.queue.counts() ?? { active: 0, backoff: 0, unschedulable: 0, gated: 0 };
  }

  /** Whether it knows the cluster. */
  get isReady(): boolean {
    return this.isFollowing;
  }

  /** Resolves once it knows the cluster; rejects if {@link follow} ends before. */
  get ready(): Promise<void> {
    return this.followed.promise;
  }

  /** Keeps what it knows of the cluster up to date until aborted. @throws IllegalStateError on a second call */
  async follow(signal: AbortSignal): Promise<void> {
    if (this.parts) throw new IllegalStateError('the scheduler follows the cluster already');
    const served = servedResources(await this.discover(signal));
    const { caches: given, client, clock, logger, random } = this.options;
    const caches = new ClusterCaches({ client, clock, random, logger, served, ...(given && { given }) });
    const parts = this.assemble(caches);
    this.parts = parts;
    const stop = followCluster(caches, {
      cache: this.cache,
      queue: parts.queue,
      isOurs: ({ spec: { schedulerName = 'default-scheduler' } }) => parts.profiles.has(schedulerName),
      onGone: (pod) => {
        parts.statuses.forget(pod);
        parts.permitQueue.get(pod.metadata.uid ?? '')?.reject('', 'the pod is gone');
      },
    });
    const claims = caches.viewed.get('persistentvolumeclaims');
    const stopClaims = claims?.addEventHandler(() => parts.claimChanges.notify());
    const devices = caches.viewed.get('resource.k8s.io/resourceclaims');
    const stopDevices = devices?.addEventHandler(() => parts.deviceChanges.notify());
    const running = caches.run(signal);
    try {
      const unseen = await caches.settle(signal);
      if (unseen.length > 0)
        logger.warn('some resources may not be listed: plug-ins see none of them', { resources: unseen });
      this.isFollowing = true;
      this.followed.resolve();
      await running;
    } finally {
      this.isFollowing = false;
      this.followed.reject(new ShutdownError('the scheduler has stopped'));
      stop();
      stopClaims?.();
      stopDevices?.();
      parts.queue.close();
      await running;
    }
  }

  /** Schedules until aborted; then what is under way is ended or undone. Needs {@link follow} beside it. */
  async schedule(signal: AbortSignal): Promise<void> {
    if (!(await settlesBefore(this.ready, signal))) return;
    const { parts } = this;
    if (!parts) throw new IllegalStateError('the scheduler does not follow the cluster');
    const { clock } = this.options;
    let turnMs = clock.monotonicNow();
    for (;;) {
      const entry = await parts.queue.pop(signal);
      if (!entry) break;
      if (this.lacksDeviceSelector(parts))
        this.compileDeviceSelector = await this.options.loadDeviceSelector?.();
      await parts.attempts.attempt(entry, signal);
      if (clock.monotonicNow() - turnMs < TURN_MS) continue;
      await nextTurn();
      turnMs = clock.monotonicNow();
    }
    await Promise.all([parts.attempts.idle(), parts.preemptions.idle(), parts.statuses.idle()]);
    await parts.extended.idle();
  }

  /**
   * Follows and schedules until aborted, alone: without a lease.
   * @param onReady called once, when it knows the cluster
   */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    // If one part fails, the other is stopped and awaited.
    const either = new LinkedAbort(signal);
    const following = this.follow(either.signal).finally(() => {
      either.abort(new ShutdownError('the scheduler does not follow the cluster any more'));
    });
    try {
      await Promise.all([following, this.ready.then(onReady, () => undefined), this.schedule(either.signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      either.abort(new ShutdownError('the scheduler stops'));
      await Promise.allSettled([following]);
      either.close();
    }
  }

  /** Expressions are compiled for devices, so none is missed before there are any. */
  private lacksDeviceSelector({ caches }: Parts): boolean {
    if (this.compileDeviceSelector || !this.options.loadDeviceSelector) return false;
    return (caches.viewed.get('resource.k8s.io/resourceslices')?.lister.list().length ?? 0) > 0;
  }

  private async discover(signal: AbortSignal) {
    const { client, clock, logger } = this.options;
    for (let failures = 0; ; failures++) {
      try {
        return await client.discover({ signal });
      } catch (error) {
        signal.throwIfAborted();
        const delayMs = doublingDelayMs(failures, DISCOVERY_RETRY);
        logger.warn('the resources of the API are not known yet', { error: errorMessage(error), delayMs });
        await clock.sleep(delayMs, signal);
      }
    }
  }

  private compile(
    view: ClusterView,
    io: ReadonlyMap<string, PluginFactory> = WITHOUT_BINDING,
    wraps = NO_WRAPS,
    permitQueue?: PermitQueue,
  ) {
    const { clock, compileDeviceSelector, loadDeviceSelector, logger, plugins = [] } = this.options;
    const catalog = catalogOf(plugins, wraps, io);
    const handle = {
      view,
      log: logger,
      now: () => clock.now(),
      ...(permitQueue && { waitingPods: permitQueue }),
      ...((compileDeviceSelector ?? loadDeviceSelector) && { compileDeviceSelector: this.compileLoaded }),
    };
    const profiles = buildProfiles(this.configuration, catalog, handle);
    const extenders = this.configuration.extenders.map(
      (extender, index) => new HttpExtender(extender, clock, `extenders[${index}]`),
    );
    return { profiles, extenders };
  }

  private assemble(caches: ClusterCaches): Parts {
    const { client, clock, eventsOf, logger, random } = this.options;
    const { cache, metrics } = this;
    const view = new AssumedObjects(caches, clock);
    const permitQueue = new PermitQueue(clock);
    const statuses = new PodStatusWriter({ client, clock, logger });
    const claimChanges = new ChangeSignal(clock);
    const claims = this.claimParts(caches, view, statuses);
    const { changes: deviceChanges, extended } = claims;
    const wraps = new Map([
      [
        'VolumeBinding',
        (base: PluginFactory) =>
          bindingVolumes(base, {
            ...{ client, clock, claimChanges },
            assumed: view,
            expectNode: claims.expectNode,
          }),
      ],
      ['DynamicResources', (base: PluginFactory) => bindingClaims(base, claims)],
    ]);
    const { assertMayWrite = () => undefined } = this.options;
    const io = new Map([['DefaultBinder', defaultBinder({ client, assertMayWrite })]]);
    const { extenders, profiles } = this.compile(view, io, wraps, permitQueue);
    const profileOf = (pod: ReadablePod): Profile | undefined =>
      profiles.get(pod.spec.schedulerName ?? 'default-scheduler');
    const shared = { cache, clock, extenders, logger, metrics, permitQueue, statuses, eventsOf };
    const preemptions = new Preemptions({ ...shared, client, queue: () => queue });
    const queue: SchedulingQueue = this.queueOf(profiles, preemptions, view);
    const tracer = this.options.tracer ?? trace.getTracer('rollkeeper');
    const freeDevices = (claim: FreedClaim, signal: AbortSignal): Promise<void> =>
      freeClaim(claims, claim, signal);
    const attempts = new PodAttempts({
      ...shared,
      ...{ queue, view, profileOf, preemptions, tracer, random, freeDevices },
    });
    metrics.watch(() => ({
      pending: queue.counts(),
      refused: queue.refused(),
      nodes: caches.nodes.lister.list().length,
      pods: caches.pods.lister.list().length,
      assumedPods: queue.attemptsUnderWay,
    }));
    return {
      ...{ attempts, caches, claimChanges, deviceChanges, extended },
      ...{ permitQueue, preemptions, profiles, queue, statuses },
    };
  }

  /** The parts that bind a pod to its claims of devices. */
  private claimParts(caches: ClusterCaches, assumed: AssumedObjects, statuses: PodStatusWriter) {
    const { client, clock, eventsOf, logger, newShareId = randomUUID } = this.options;
    const shared = { client, claims: caches.viewed.get('resource.k8s.io/resourceclaims')?.type, assumed };
    return {
      ...{ ...shared, clock, eventsOf, newShareId },
      changes: new ChangeSignal(clock),
      extended: new ExtendedClaims({ ...shared, metrics: this.metrics, logger }),
      expectNode: (pod: ReadablePod, node: string, signal: AbortSignal): void =>
        statuses.write(pod, { nomination: { node } }, signal),
    };
  }

  private queueOf(
    profiles: ReadonlyMap<string, Profile>,
    preemptions: Preemptions,
    view: AssumedObjects,
  ): SchedulingQueue {
    const { clock, logger } = this.options;
    const { initialBackoffMs, maxBackoffMs } = this.configuration;
    const queueProfiles = new Map(
      [...profiles].map(([name, profile]) => [name, queueProfileOf(profile, preemptions)]),
    );
    const [first] = profiles.values();
    return new SchedulingQueue({
      ...{ clock, logger, view, initialBackoffMs, maxBackoffMs },
      less: (one, other) => first?.queueSort.less?.(one, other) ?? false,
      profileOf: (pod) => queueProfiles.get(pod.spec.schedulerName ?? 'default-scheduler'),
      metrics: this.metrics.queue,
    });
  }
}

interface Parts {
  readonly attempts: PodAttempts;
  readonly caches: ClusterCaches;
  readonly claimChanges: ChangeSignal;
  readonly deviceChanges: ChangeSignal;
  readonly extended: ExtendedClaims;
  readonly permitQueue: PermitQueue;
  readonly preemptions: Preemptions;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly queue: SchedulingQueue;
  readonly statuses: PodStatusWriter;
}

/** Whether the promise is fulfilled before the signal aborts. */
async function settlesBefore(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await abortable(promise, signal);
    return true;
  } catch (error) {
    if (isAborted(signal)) return false;
    throw error;
  }
}

const NO_WRAPS: ReadonlyMap<string, (base: PluginFactory) => PluginFactory> = new Map();

function queueProfileOf(profile: Profile, { gate }: Preemptions): QueueProfile {
  const { filter, permit, postFilter, preBind, preEnqueue, preFilter, reserve, bind } = profile;
  const all = new Set([
    ...preEnqueue,
    ...preFilter,
    ...filter,
    ...postFilter,
    ...reserve,
    ...permit,
    ...preBind,
    ...bind,
  ]);
  const hints = new Map(
    [...all].flatMap(({ eventsToRegister, name }) =>
      eventsToRegister ? [[name, eventsToRegister] as const] : [],
    ),
  );
  // A preemption under way ends by itself: no event of the cluster helps.
  hints.set(gate.name, hints.get(gate.name) ?? []);
  return { preEnqueue: [...preEnqueue, gate], hints };
}
