import { randomBytes } from 'node:crypto';
import type { ApiClient, ClusterConnection, HttpApiClient } from '@rollkeeper/client/api-client';
import { bearerToken, createHttpApiClient } from '@rollkeeper/client/api-client';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import type { RandomSource } from '@rollkeeper/machinery/clock';
import { ShutdownError, UnsupportedError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { VERSION } from '@rollkeeper/machinery/version';
import { CustomResourceDefinition } from '@rollkeeper/runtime';
import { memoryCoordination } from '@rollkeeper/runtime/operator/memory-coordination';
import { noWorkQueueMetrics } from '@rollkeeper/runtime/work-queue';
import type { ServedWebhooks } from '@rollkeeper/webhooks';
import { serveWebhooks } from '@rollkeeper/webhooks';
import { buildWorkloads } from './build-workloads.js';
import type { ClusterAccess } from './cluster-access.js';
import { SystemClusterClock } from './cluster-clock.js';
import { ClusterObjects } from './cluster-objects.js';
import { ClusterUsers } from './cluster-users.js';
import { DRAIN_TIMEOUT_MS } from './controllers.js';
import { definitionServed } from './definition-served.js';
import { ExistingAccess } from './existing-access.js';
import { LocalWebhooks } from './local-webhooks.js';
import { MadeObjects } from './made-objects.js';
import type { TestCluster } from './test-cluster.js';
import type { CompiledTestClusterOptions, ExistingClusterPlace } from './test-cluster.options.js';
import { probeWebhook, webhooksAreCalled } from './webhook-probe.js';
import type { Workloads } from './workloads.js';

/** A cluster that was there before the test, and stays there. */
export class ExistingTestCluster implements TestCluster {
  private readonly machine = new SystemClock();
  private readonly random: RandomSource = new SystemRandom();
  /** The id of this test, in case others run on the same cluster. */
  private readonly id = randomBytes(4).toString('hex');
  /** Aborts with the reason once the cluster is no longer usable. */
  private readonly ended = new AbortController();
  private readonly onAbort = (): void => void this.stop().catch(() => undefined);
  readonly clock = new SystemClusterClock(this.machine);
  /** Absent until the kubeconfig has been read. */
  private place: ExistingAccess | undefined;
  private api!: HttpApiClient;
  private noting!: ApiClient;
  private objects!: ClusterObjects;
  private users!: ClusterUsers;
  /** The objects that the test makes. Its removal may need all that runs here. */
  private made!: MadeObjects;
  /** The objects of the simulated nodes: they would come again while they run. */
  private furniture!: MadeObjects;
  /** The UIDs of what manifests have made. */
  private readonly own = new Set<string | undefined>();
  /** How definitions that were there get their conversion back. */
  private readonly restorations: (() => Promise<void>)[] = [];
  private local!: LocalWebhooks;
  private webhooks: ServedWebhooks | undefined;
  private workloads: Workloads | undefined;
  private stopping: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly options: CompiledTestClusterOptions,
    private readonly existing: ExistingClusterPlace,
  ) {}

  /** The name of the configurations of its webhooks. */
  private get name(): string {
    return `test-cluster-${this.id}`;
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
    return { KUBECONFIG: this.kubeconfig.path };
  }

  get client(): ApiClient {
    return this.noting;
  }

  async start(): Promise<void> {
    const { manifests, signal } = this.options;
    await this.connect();
    signal.throwIfAborted();
    await this.startWebhooks();
    await this.startWorkloads();
    await this.apply(manifests);
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

  settled(): Promise<never> {
    return unsupported('settled', 'others work on it as well; wait for what they do with waitFor');
  }

  snapshot(): Promise<never> {
    return unsupported('snapshot', 'it is not the test’s alone');
  }

  restore(): Promise<never> {
    return unsupported('restore', 'it is not the test’s alone');
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private get access(): ClusterAccess {
    return this.place!.access;
  }

  private async connect(): Promise<void> {
    const { ended, machine: clock, options, random } = this;
    const { logger } = options;
    const place = await ExistingAccess.open(this.existing, { clock, logger });
    this.place = place;
    this.api = this.clientOf(place.connection);
    this.made = new MadeObjects(this.api, clock);
    this.furniture = new MadeObjects(this.api, clock);
    this.noting = this.made.clientOf(this.api);
    this.local = new LocalWebhooks(this.api, options.webhookHost);
    this.users = new ClusterUsers({
      users: [],
      client: this.api,
      accessWith: (name, token) => place.accessWith(name, token),
      connect: (token) => this.clientOf({ ...connectionOfOthers(place), credentials: bearerToken(token) }),
      clientOf: (client) => this.made.clientOf(client),
    });
    this.objects = new ClusterObjects({
      ...{ client: this.api, clock, random, logger, ended: ended.signal },
      onMade: (type, object) => this.onMade(type, object),
      onApplied: (object) => this.onApplied(object),
    });
    // Whether it is there at all, before anything is done.
    await this.api.ping({ signal: options.signal });
    await this.local.begin();
  }

  private clientOf(connection: ClusterConnection): HttpApiClient {
    const { machine, options, random } = this;
    return createHttpApiClient({
      connection,
      userAgent: `rollkeeper/${VERSION} (test-cluster)`,
      clock: machine,
      random,
      logger: options.logger,
    });
  }

  private async startWebhooks(): Promise<void> {
    const { api, ended, id, machine: clock, options } = this;
    const { logger, webhookHost: host, webhooks } = options;
    if (webhooks.length === 0) return;
    const all = [...webhooks, probeWebhook(id)];
    this.webhooks = await serveWebhooks({ webhooks: all, clock, logger, host, name: this.name });
    await this.webhooks.publish(api);
    const either = new LinkedAbort(options.signal, ended.signal);
    try {
      await webhooksAreCalled(api, { clock, id, signal: either.signal, url: this.webhooks.url });
    } finally {
      either.close();
    }
  }

  private async startWorkloads(): Promise<void> {
    const { api, ended, machine: clock, options, random } = this;
    const { logger, signal } = options;
    const coordination = memoryCoordination(clock)({
      keyPrefix: this.name,
      ...{ clock, logger },
      metrics: noWorkQueueMetrics,
      drainTimeoutMs: DRAIN_TIMEOUT_MS,
    });
    this.workloads = buildWorkloads(options, {
      ...{ client: api, nodeClient: this.furniture.clientOf(api), coordination },
      ...{ clock, objectClock: clock, random, rootCa: this.ca },
    });
    const either = new LinkedAbort(signal, ended.signal);
    try {
      await this.workloads.start(either.signal, (error) => this.fail(error));
    } finally {
      either.close();
    }
  }

  private onMade(type: ResourceType, object: KubernetesObject): void {
    this.made.note(type, object);
    this.own.add(object.metadata.uid);
  }

  private async onApplied(object: KubernetesObject): Promise<void> {
    const { api, ended, machine: clock, own, webhooks } = this;
    if (object.kind !== 'CustomResourceDefinition') return;
    const { name, uid } = object.metadata;
    if (webhooks?.converts(name)) {
      const { conversion } = (object as CustomResourceDefinition).spec;
      const body = { spec: { conversion: { webhook: null, ...conversion } } };
      if (!own.has(uid))
        this.restorations.push(() =>
          api.patch(CustomResourceDefinition, { name }, { type: 'merge', body }).then(() => undefined),
        );
      await webhooks.convert(api, name);
    }
    await definitionServed(api, name, { clock, signal: ended.signal });
  }

  /** A part has failed permanently: waits must not hang. */
  private fail(error: unknown): void {
    this.options.logger.error('a part of the test cluster has failed', { error });
    this.failure ??= { error };
    this.ended.abort(error);
  }

  private async stopAll(): Promise<void> {
    this.options.signal.removeEventListener('abort', this.onAbort);
    this.ended.abort(new ShutdownError('the test cluster has stopped'));
    const failures: unknown[] = this.failure ? [this.failure.error] : [];
    const { place } = this;
    const steps = place
      ? [
          () => this.local.remove(this.name),
          // While controllers, nodes and webhooks still run: what they look after cannot go without them.
          () => this.made.remove(),
          ...this.restorations,
          () => this.webhooks?.withdraw(this.api),
          // The leader of an operator that still runs has put them back.
          () => this.local.remove(),
          () => this.workloads?.stop(),
          () => this.furniture.remove(),
          () => this.webhooks?.close(),
          () => this.users.close(),
          () => this.api.close(),
          () => place.close(),
        ]
      : [];
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

/** Without the client certificate of the kubeconfig's user. */
function connectionOfOthers({ connection }: ExistingAccess): ClusterConnection {
  const { ca, insecureSkipVerify, serverName } = connection.tls;
  return { ...connection, tls: { ca, insecureSkipVerify, serverName } };
}

function unsupported(method: string, why: string): Promise<never> {
  return Promise.reject(new UnsupportedError(`${method} is not for an existing cluster: ${why}`));
}
