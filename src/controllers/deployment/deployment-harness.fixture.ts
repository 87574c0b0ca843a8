import { trace } from '@opentelemetry/api';
import type { ApiClient } from '../../client/api-client/index.js';
import { ApiConnectionError, ApiStatusError, delegatingClient } from '../../client/api-client/index.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { MemoryActorStore, QueuedActivations } from '../../runtime/activation/index.js';
import { Controller, activationClient } from '../../runtime/controller/index.js';
import { runSteps } from '../../runtime/operator/define/sync-steps.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../../runtime/work-queue/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { compileDeploymentControllerOptions } from './deployment.options.js';
import { DeploymentReconciler } from './reconcile.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import {
  Deployment,
  Pod,
  ReplicaSet,
  compareResourceVersions,
  qualifiedResource,
} from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeCluster, refusal } from '../../testing/fake-cluster.js';
import { LaggingCache } from '../../testing/lagging-cache.js';
import { MemoryEventRecorder } from '../../testing/memory-event-recorder.js';

/**
 * Faults of a write: it is stored and its answer is lost, or the answer is an internal error; it never arrives; it is
 * stored only {@link LATE_MS} after its sender has given up; the server refuses it.
 */
export type WriteFault = 'answer-lost' | 'answered-500' | 'never-arrived' | 'stored-late' | 'refused';

/** The delay of `stored-late`. */
export const LATE_MS = 600;

/** Backoff of a key that has failed repeatedly. */
const LONG_MS = 400_000;
const CONTROLLER = 'deployment';

/** One process that reconciles the Deployment, with its view of the cluster. */
interface Process {
  readonly deployments: LaggingCache<Deployment>;
  readonly replicaSets: LaggingCache<ReplicaSet>;
  readonly queue: MemoryWorkQueue;
}

/**
 * One Deployment on a fake cluster, reconciled by the real controller in several processes with separate caches and
 * shared actor state. A test injects write faults, and decides when a cache catches up.
 */
export class DeploymentHarness {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster(this.clock);
  readonly key = 'default/web';
  /** Faults of the next writes, in order; later writes succeed. */
  faults: (WriteFault | undefined)[] = [];
  private readonly stop = new AbortController();
  private readonly store = new MemoryActorStore(this.clock);
  private readonly actors = new MemoryActorRuntime({ clock: this.clock, store: this.store });
  private readonly processes: readonly Process[];

  constructor(deployment: Deployment, { processes = 1 }: { processes?: number } = {}) {
    this.processes = Array.from({ length: processes }, () => this.newProcess());
    this.cluster.seed(Deployment, deployment);
    this.catchUp();
  }

  get deployment(): Deployment {
    const deployment = this.cluster.peek<Deployment>(Deployment, this.key);
    if (!deployment) throw new Error('the Deployment is gone');
    return deployment;
  }

  get replicaSets(): ReplicaSet[] {
    return this.cluster.all<ReplicaSet>(ReplicaSet);
  }

  /** The sum of the ReplicaSets' sizes. */
  get size(): number {
    return this.replicaSets.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
  }

  cachesOf(index: number): Pick<Process, 'deployments' | 'replicaSets'> {
    return this.process(index);
  }

  /** All caches catch up. */
  catchUp(): void {
    for (const { deployments, replicaSets } of this.processes) {
      deployments.catchUp();
      replicaSets.catchUp();
    }
  }

  /** A user changes the Deployment; the next sync must have seen it, as the leader records. */
  async change(change: (deployment: Deployment) => void): Promise<void> {
    const { deployment } = this;
    change(deployment);
    deployment.metadata.generation = (deployment.metadata.generation ?? 1) + 1;
    const { metadata } = await this.cluster.update(Deployment, deployment);
    const causes = { [qualifiedResource(Deployment)]: metadata.resourceVersion ?? '' };
    await this.actors.recordCauses(CONTROLLER, this.key, causes);
  }

  /** All pods of a ReplicaSet become ready. */
  async makeReady({ metadata, spec }: ReplicaSet): Promise<void> {
    const current = this.cluster.peek<ReplicaSet>(ReplicaSet, `default/${metadata.name}`);
    if (!current) return;
    const replicas = spec.replicas ?? 1;
    const { generation: observedGeneration } = metadata;
    const status = { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration };
    await this.cluster.update(ReplicaSet, { ...current, status }, { subresource: 'status' });
  }

  /** Runs the key in process `index`, and lets `ms` pass for it and for delayed writes. */
  async sync(index = 0, ms = 0): Promise<void> {
    await this.process(index).queue.add(this.key);
    await this.clock.advance(ms);
  }

  /** Without faults and with current caches and running pods, runs until nothing changes. */
  async settle(): Promise<void> {
    this.faults = [];
    for (let runs = 0; runs < 40; runs++) {
      await this.clock.advance(LONG_MS);
      const before = this.revision();
      this.catchUp();
      for (const replicaSet of this.replicaSets) await this.makeReady(replicaSet);
      this.catchUp();
      await this.sync(runs % this.processes.length, LONG_MS);
      if (this.revision() === before) return;
    }
    throw new Error('the Deployment does not come to rest');
  }

  close(): void {
    this.stop.abort();
  }

  private revision(): string {
    const objects: KubernetesObject[] = [this.deployment, ...this.replicaSets];
    return objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).join(', ');
  }

  private process(index: number): Process {
    const process = this.processes[index];
    if (!process) throw new Error(`there is no process ${index}`);
    return process;
  }

  private newProcess(): Process {
    const { clock, cluster } = this;
    const deployments = new LaggingCache<Deployment>(cluster, Deployment);
    const replicaSets = new LaggingCache<ReplicaSet>(cluster, ReplicaSet);
    const pods = new LaggingCache<Pod>(cluster, Pod);
    const events = new MemoryEventRecorder();
    const { rules } = compileDeploymentControllerOptions();
    const reconciler = new DeploymentReconciler({ deployments, replicaSets, pods, clock, rules });
    const queue = new MemoryWorkQueue({ name: CONTROLLER, clock });
    const client = this.breakingClient();
    const caches = [
      [Deployment, deployments],
      [ReplicaSet, replicaSets],
    ] as const;
    const controller = new Controller({
      name: CONTROLLER,
      sync: (request, access, decide) => runSteps(reconciler, request, { ...access, events }, decide),
      activations: new QueuedActivations({
        ...{ queue, clock, logger: silentLogger },
        consumer: new MemoryWorkQueueConsumer(queue),
        actors: new MemoryActorRuntime({ clock, store: this.store }),
      }),
      clientFor: (activation) => activationClient(client, activation, clock),
      informerOf: (resource) => {
        const found = caches.find(([type]) => qualifiedResource(type) === resource);
        return found && asInformer(found[1]);
      },
      clock,
      logger: silentLogger,
      tracer: trace.getTracer('test'),
      workers: 1,
      caughtUpTimeoutMs: 1000,
      replica: 'replica',
    });
    void controller.run(this.stop.signal);
    return { deployments, replicaSets, queue };
  }

  /** The fake cluster, with {@link faults}. */
  private breakingClient(): ApiClient {
    const { cluster } = this;
    const write = async <T>(send: () => Promise<T>): Promise<T> => {
      const fault = this.faults.shift();
      if (fault === 'never-arrived') throw new ApiConnectionError('connection reset');
      if (fault === 'refused') throw refusal(409, 'Conflict', 'the object has been modified');
      if (fault === 'stored-late') {
        this.clock.setTimeout(() => void send().catch(() => undefined), LATE_MS);
        throw new ApiConnectionError('connection reset');
      }
      const answer = await send();
      if (fault === 'answer-lost') throw new ApiConnectionError('socket hang up');
      if (fault === 'answered-500') throw new ApiStatusError({ code: 500, reason: 'InternalError' });
      return answer;
    };
    return {
      ...delegatingClient(cluster),
      create: (type, object, options) => write(() => cluster.create(type, object, options)),
      update: (type, object, options) => write(() => cluster.update(type, object, options)),
      patch: (type, ref, patch, options) => write(() => cluster.patch(type, ref, patch, options)),
      delete: (type, ref, options) => write(() => cluster.delete(type, ref, options)),
    };
  }
}

/** A cache that immediately shows an awaited version, and nothing newer. */
function asInformer(cache: Pick<LaggingCache<KubernetesObject>, 'resourceVersion' | 'catchUpTo'>) {
  const hasSeen = (version: string): boolean =>
    (compareResourceVersions(cache.resourceVersion ?? '0', version) ?? -1) >= 0;
  const waitForResourceVersion = async (version: string): Promise<void> => cache.catchUpTo(version);
  return { hasSeen, waitForResourceVersion };
}
