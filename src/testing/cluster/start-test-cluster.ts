import { randomUUID } from 'node:crypto';
import { MemoryStorage, RedisStorage } from '@rollkeeper/apiserver';
import type { Storage } from '@rollkeeper/apiserver';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import { assertUsableRedis } from '@rollkeeper/redis/connection';
import type { SigningAuthority } from '@rollkeeper/controllers/certificates/certificate-controllers';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import { bearerToken, createHttpApiClient } from '@rollkeeper/client/api-client';
import { memoryCoordination } from '@rollkeeper/runtime/operator/memory-coordination';
import { noWorkQueueMetrics } from '@rollkeeper/runtime/work-queue';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { VERSION } from '@rollkeeper/machinery/version';
import type { ServedWebhooks } from '@rollkeeper/webhooks';
import { serveWebhooks } from '@rollkeeper/webhooks';
import { Activity } from './activity.js';
import { buildWorkloads } from './build-workloads.js';
import { ManualClusterClock, SystemClusterClock } from './cluster-clock.js';
import { ClusterObjects } from './cluster-objects.js';
import { ClusterUsers } from './cluster-users.js';
import { ControlPlane } from './control-plane.js';
import type { ClusterAccess } from './cluster-access.js';
import { DRAIN_TIMEOUT_MS } from './controllers.js';
import { ExistingTestCluster } from './existing-test-cluster.js';
import { observedStorage } from './observed-storage.js';
import { requeueOnClock } from './requeue-on-clock.js';
import type { RedisPlace } from './redis-coordination.js';
import type { TestClusterSnapshot } from './snapshot.js';
import { assertSnapshot, restoreSnapshot, takeSnapshot } from './snapshot.js';
import type { SettleOptions, TestCluster } from './test-cluster.js';
import type { CompiledTestClusterOptions, TestClusterOptions } from './test-cluster.options.js';
import { compileTestClusterOptions } from './test-cluster.options.js';
import type { Workloads } from './workloads.js';

/** How long to wait at startup for a Redis that is not up, milliseconds. */
const REDIS_TIMEOUT_MS = 3000;
/** Pause between two looks at whether the cluster has settled: commands in flight to Redis are invisible. */
const REDIS_LOOK_PAUSE_MS = 5;

/**
 * Starts a Kubernetes API with working controllers in this process: on its own port, in memory by default. Any number
 * can run side by side. With `existingCluster`, or `USE_EXISTING_CLUSTER` in the environment, it takes a cluster that
 * exists.
 * @throws InvalidOptionError naming the option; StartupError; the signal's reason
 */
export async function startTestCluster(options?: TestClusterOptions): Promise<TestCluster> {
  const compiled = compileTestClusterOptions(options);
  compiled.signal.throwIfAborted();
  if (compiled.snapshot) assertSnapshot(compiled.snapshot);
  const cluster = compiled.existing
    ? new ExistingTestCluster(compiled, compiled.existing)
    : new RunningTestCluster(compiled);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    // The error that made the start fail matters more than one from stopping half a cluster.
    await cluster.stop().catch(() => undefined);
    throw error;
  }
}

class RunningTestCluster implements TestCluster {
  readonly clock: ManualClusterClock | SystemClusterClock;
  private readonly machine = new SystemClock();
  private readonly random: RandomSource = new SystemRandom();
  private readonly activity: Activity;
  /** The cluster's wall time with the machine's durations. */
  private readonly working: Clock;
  private readonly place: RedisPlace | undefined;
  private readonly storage: Storage;
  /** Aborts with the reason once the cluster is no longer usable. */
  private readonly ended = new AbortController();
  private readonly onAbort = (): void => void this.stop().catch(() => undefined);
  private plane: ControlPlane | undefined;
  private api!: HttpApiClient;
  private access!: ClusterAccess;
  private objects!: ClusterObjects;
  private users!: ClusterUsers;
  private webhooks: ServedWebhooks | undefined;
  private workloads: Workloads | undefined;
  private workloadRuns = 0;
  private restoring: Promise<void> = Promise.resolve();
  private stopping: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly options: CompiledTestClusterOptions) {
    const { clock, logger, redisUrl, watchHistory: maxLogEntries } = options;
    const { machine } = this;
    this.activity = new Activity(machine, redisUrl === undefined ? 0 : REDIS_LOOK_PAUSE_MS);
    this.activity.watch((resources) => ({
      queues: this.workloads?.queues ?? [],
      caches: this.workloads?.cachesOf(resources) ?? [],
    }));
    this.clock =
      clock === 'system'
        ? new SystemClusterClock(machine)
        : new ManualClusterClock(clock.startMs ?? machine.now(), () => this.settled());
    this.working = this.activity.clockOf(this.clock.clock);
    this.place = redisUrl === undefined ? undefined : { redisUrl, keyPrefix: `test-cluster-${randomUUID()}` };
    const storage = this.place
      ? new RedisStorage({
          url: this.place.redisUrl,
          keyPrefix: `${this.place.keyPrefix}:`,
          clock: machine,
          logger,
          maxLogEntries,
        })
      : new MemoryStorage({ clock: machine, maxLogEntries });
    this.storage = observedStorage(storage, (...write) => this.activity.wrote(...write));
  }

  get url(): string {
    return this.access.url;
  }

  get ca(): string {
    return this.access.ca;
  }

  get token(): string {
    return this.access.token;
  }

  get kubeconfig(): ClusterAccess['kubeconfig'] {
    return this.access.kubeconfig;
  }

  get env(): TestCluster['env'] {
    return { KUBECONFIG: this.access.kubeconfig.path };
  }

  get client(): HttpApiClient {
    return this.api;
  }

  async start(): Promise<void> {
    const { manifests, signal, snapshot } = this.options;
    await this.startPlane();
    signal.throwIfAborted();
    if (snapshot) await this.putBack(snapshot);
    await this.webhooks?.publish(this.api);
    await this.startWorkloads();
    await this.objects.apply(manifests);
    signal.throwIfAborted();
    signal.addEventListener('abort', this.onAbort, { once: true });
  }

  readonly user: TestCluster['user'] = (name) => this.users.get(name);
  readonly apply: TestCluster['apply'] = (manifests) => this.objects.apply(manifests);
  readonly get: TestCluster['get'] = (name) => this.objects.get(name);
  readonly list: TestCluster['list'] = (resource, filter) => this.objects.list(resource, filter);
  readonly patch: TestCluster['patch'] = (name, body, options) => this.objects.patch(name, body, options);
  readonly delete: TestCluster['delete'] = (name, options) => this.objects.delete(name, options);
  readonly waitFor: TestCluster['waitFor'] = (name, condition, options) =>
    this.objects.waitFor(name, condition, options);

  async settled({ signal, timeoutMs }: SettleOptions = {}): Promise<void> {
    const either = new LinkedAbort(this.ended.signal, ...(signal ? [signal] : []));
    try {
      either.signal.throwIfAborted();
      await this.activity.settled(either.signal, timeoutMs);
    } finally {
      either.close();
    }
  }

  async snapshot(): Promise<TestClusterSnapshot> {
    this.ended.signal.throwIfAborted();
    return takeSnapshot(this.storage, this.activity.resources, this.clock.clock.now());
  }

  restore(snapshot: TestClusterSnapshot): Promise<void> {
    const restored = this.restoring.then(async () => {
      this.ended.signal.throwIfAborted();
      assertSnapshot(snapshot);
      await this.workloads?.stop();
      await this.putBack(snapshot);
      await this.startWorkloads();
    });
    this.restoring = restored.catch(() => undefined);
    return restored;
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private async startPlane(): Promise<void> {
    const { logger, port, signal, users } = this.options;
    const { ended, machine, place, random, storage, working } = this;
    if (place)
      await assertUsableRedis(place.redisUrl, {
        clock: machine,
        timeoutMs: REDIS_TIMEOUT_MS,
        option: 'store.redisUrl',
        signal,
        logger,
      });
    const machineNowMs = machine.now();
    const plane = await ControlPlane.start({
      storage,
      port,
      users,
      webhookServices: this.options.webhookServices,
      unknownServiceAccounts: this.options.unknownServiceAccounts,
      metrics: this.options.metrics,
      clock: working,
      machineNowMs,
      random,
      logger,
    });
    this.plane = plane;
    this.access = plane.access;
    plane.ended.then(
      () => this.stopping ?? this.fail(new ShutdownError('the API server has stopped')),
      (error: unknown) => this.fail(error),
    );
    this.api = this.connect(plane.access.token);
    this.users = new ClusterUsers({
      users,
      client: this.api,
      accessWith: (name, token) => plane.accessWith(name, token),
      connect: (token) => this.connect(token),
    });
    const { webhooks } = this.options;
    if (webhooks.length > 0) this.webhooks = await serveWebhooks({ webhooks, clock: machine, logger });
    this.objects = new ClusterObjects({
      client: this.api,
      clock: machine,
      random,
      logger,
      ended: ended.signal,
      onApplied: (object) => this.convertBy(object),
    });
  }

  /** A definition whose objects a webhook converts is installed so. */
  private async convertBy({ kind, metadata: { name } }: KubernetesObject): Promise<void> {
    if (kind === 'CustomResourceDefinition' && this.webhooks?.converts(name))
      await this.webhooks.convert(this.api, name);
  }

  private connect(token: string): HttpApiClient {
    const { access, machine, options, random } = this;
    const tls = { ca: access.ca };
    return createHttpApiClient({
      connection: { serverUrl: access.url, tls, credentials: bearerToken(token), source: 'test cluster' },
      userAgent: `rollkeeper/${VERSION} (test-cluster)`,
      clock: machine,
      random,
      logger: options.logger,
    });
  }

  /** Clients use the machine's time, regardless of the cluster's. */
  private signing(): SigningAuthority | undefined {
    const { machine, plane } = this;
    return plane && { read: () => Promise.resolve(plane.authority), nowMs: () => machine.now() };
  }

  private async startWorkloads(): Promise<void> {
    const { options, place, random, working } = this;
    const { logger, signal } = options;
    // State remembered by an earlier run is about other objects.
    const run = `${place?.keyPrefix}:${++this.workloadRuns}`;
    // Redis and its clients only know the machine's time.
    const coordinationClock = this.activity.clockOf(this.machine);
    const coordinationOf = place
      ? (await redisParts()).redisCoordination(place.redisUrl)
      : memoryCoordination(coordinationClock);
    const { clock } = this.clock;
    this.workloads = buildWorkloads(options, {
      client: this.activity.clientOf(this.api),
      coordination: coordinationOf({
        keyPrefix: run,
        clock: coordinationClock,
        logger,
        metrics: noWorkQueueMetrics,
        drainTimeoutMs: DRAIN_TIMEOUT_MS,
        queueView: (queue) => (this.clock.isManual ? requeueOnClock(queue, clock, logger) : queue),
      }),
      ...{ clock: working, objectClock: clock, random },
      rootCa: this.access.ca,
      signing: this.signing(),
    });
    const either = new LinkedAbort(signal, this.ended.signal);
    try {
      await this.workloads.start(either.signal, (error) => this.fail(error));
    } finally {
      either.close();
    }
  }

  private async putBack(snapshot: TestClusterSnapshot): Promise<void> {
    const resources = new Set([
      ...this.activity.resources,
      ...snapshot.objects.map(({ resource }) => resource),
    ]);
    await restoreSnapshot(this.storage, [...resources], snapshot);
    if (this.clock instanceof ManualClusterClock) this.clock.setTime(Date.parse(snapshot.time));
  }

  /** A part has failed permanently: waits must not hang. */
  private fail(error: unknown): void {
    this.options.logger.error('a part of the test cluster has failed', { error });
    this.failure ??= { error };
    this.ended.abort(error);
  }

  private async stopAll(): Promise<void> {
    const { logger, signal } = this.options;
    signal.removeEventListener('abort', this.onAbort);
    this.ended.abort(new ShutdownError('the test cluster has stopped'));
    await this.restoring;
    const failures: unknown[] = this.failure ? [this.failure.error] : [];
    const steps = [
      () => this.workloads?.stop(),
      () => this.plane && this.users.close(),
      () => (this.plane ? this.api.close() : undefined),
      () => this.plane?.stop(),
      () => this.webhooks?.close(),
      async () => this.place && (await redisParts()).clearRedis(this.place, logger),
    ];
    // If a step fails, the rest is stopped all the same.
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        if (!failures.includes(error)) failures.push(error);
      }
    }
    if (failures.length > 1) throw new AggregateError(failures, 'the test cluster did not stop cleanly');
    if (failures.length === 1) throw failures[0];
  }
}

/** Imported lazily. */
const redisParts = () => import('./redis-coordination.js');
