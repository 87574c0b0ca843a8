import type { ApiClient, WriteOptions } from '../kit/api-client/api-client.js';
import { FakeClock, SeededRandom } from '../base/clock/index.js';
import type { ReplicaSetControllerOptions } from '../controllers/replicaset/index.js';
import { ReplicaSetReconciler, compileReplicaSetControllerOptions } from '../controllers/replicaset/index.js';
import type { ReconcileResult } from '../kit/controller/reconciler.js';
import { carryThrough } from '../kit/controller/reconciler.js';
import { KeyLockLostError } from '../base/errors/index.js';
import type { Pod, ReplicaSet } from '../base/kubernetes/index.js';
import { PODS, REPLICA_SETS, isControlledBy, isPodActive } from '../base/kubernetes/index.js';
import { silentLogger } from '../base/logging/index.js';
import { FakeCluster, refusal } from './fake-cluster.js';
import { LaggingCache } from './lagging-cache.js';
import { MemoryEventRecorder } from './memory-event-recorder.js';

/**
 * What goes wrong at an effect (a write to the API, or storing intents): the process dies before or after it, the
 * answer is lost, it never arrives, or the server refuses it.
 */
export type Fault = 'killed-before' | 'killed-after' | 'answer-lost' | 'never-arrived' | 'refused';

export interface ActivationOutcome {
  readonly effects: number;
  readonly error?: unknown;
  readonly result?: ReconcileResult;
}

/** One ReplicaSet on a fake cluster, synced by activations that a test can break at any effect. */
export class ReplicaSetHarness {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster(this.clock);
  readonly replicaSets = new LaggingCache<ReplicaSet>(this.cluster, REPLICA_SETS);
  readonly pods = new LaggingCache<Pod>(this.cluster, PODS);
  readonly events = new MemoryEventRecorder();
  readonly key = 'default/web';
  /** What the actor's memory holds. */
  storedIntents: unknown;
  private ownWrites = { pods: '0', replicaSets: '0' };
  private readonly random: SeededRandom;
  private reconciler: ReplicaSetReconciler;

  constructor(
    replicas: number,
    private readonly setup: {
      seed?: number;
      options?: ReplicaSetControllerOptions;
      spec?: Partial<ReplicaSet['spec']>;
    } = {},
  ) {
    this.random = new SeededRandom(setup.seed ?? 1);
    this.reconciler = this.newProcess();
    this.cluster.seed(REPLICA_SETS, aReplicaSet({ replicas, ...setup.spec }));
    this.catchUp();
  }

  get replicaSet(): ReplicaSet {
    const replicaSet = this.cluster.peek<ReplicaSet>(REPLICA_SETS, this.key);
    if (!replicaSet) throw new Error('the ReplicaSet is gone');
    return replicaSet;
  }

  /** The ReplicaSet's pods that count, as the API server has them. */
  get activePods(): Pod[] {
    const { replicaSet } = this;
    return this.cluster.all<Pod>(PODS).filter((pod) => isPodActive(pod) && isControlledBy(pod, replicaSet));
  }

  catchUp(): void {
    this.replicaSets.catchUp();
    this.pods.catchUp();
  }

  async scale(replicas: number): Promise<void> {
    const { replicaSet } = this;
    replicaSet.spec.replicas = replicas;
    replicaSet.metadata.generation = (replicaSet.metadata.generation ?? 0) + 1;
    await this.cluster.update(REPLICA_SETS, replicaSet);
  }

  /** Changes a pod as its kubelet, or a user, would. */
  async changePod(pod: Pod, change: (pod: Pod) => void): Promise<void> {
    const changed = structuredClone(pod);
    delete changed.metadata.resourceVersion;
    change(changed);
    await this.cluster.update(PODS, changed);
  }

  /**
   * Runs one activation on a cache that has at least caught up with what the last ones are known to have written.
   * A killed one leaves nothing but what it had stored; a new process takes over.
   */
  async activate(
    faultAt: { effect: number; fault: Fault } | undefined = undefined,
  ): Promise<ActivationOutcome> {
    this.replicaSets.catchUpTo(this.ownWrites.replicaSets);
    this.pods.catchUpTo(this.ownWrites.pods);
    const run = new Run(faultAt);
    let cleared = false;
    const [namespace = '', name = ''] = this.key.split('/');
    const intents = {
      current: structuredClone(this.storedIntents),
      store: (next: unknown) =>
        run.effect(async () => {
          cleared = false;
          this.storedIntents = structuredClone(next);
        }),
      clear: () => (cleared = true),
    };
    try {
      const client = this.clientFor(run);
      const context = {
        signal: run.signal,
        client,
        intents: { ...intents, clear: () => void intents.clear() },
      };
      const result = await carryThrough(
        this.reconciler.reconcile({ namespace, name, key: this.key }, context),
      );
      if (cleared) this.storedIntents = undefined;
      return { effects: run.effects, result };
    } catch (error) {
      if (run.signal.aborted) this.reconciler = this.newProcess();
      else if (cleared) this.storedIntents = undefined;
      return { effects: run.effects, error };
    } finally {
      if (!run.signal.aborted) this.ownWrites = run.confirmed;
    }
  }

  /** Activates on a fresh cache until a run writes nothing; returns how many runs it took. */
  async settle(): Promise<number> {
    for (let runs = 1; runs <= 20; runs++) {
      this.catchUp();
      const wasNeeded = this.reconciler.needsSync(this.key);
      const { effects, error } = await this.activate();
      if (!wasNeeded && effects > 0) throw new Error('no sync was said to be needed, and it did something');
      if (effects === 0 && !error && this.pods.lag + this.replicaSets.lag === 0) return runs;
    }
    throw new Error('the ReplicaSet does not come to rest');
  }

  private newProcess(): ReplicaSetReconciler {
    return new ReplicaSetReconciler({
      replicaSets: this.replicaSets,
      pods: this.pods,
      events: this.events,
      clock: this.clock,
      random: this.random,
      logger: silentLogger,
      options: compileReplicaSetControllerOptions(this.setup.options),
    });
  }

  private clientFor(run: Run): ApiClient {
    const { cluster } = this;
    const write = async <T>(kind: 'pods' | 'replicaSets', work: () => Promise<T>): Promise<T> => {
      const answer = await run.effect(work);
      const version = (answer as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion;
      if (version && Number(version) > Number(run.confirmed[kind])) run.confirmed[kind] = version;
      return answer;
    };
    return {
      get: (type, ref) => run.read(() => cluster.get(type, ref)),
      list: (type, options) => run.read(() => cluster.list(type, options)),
      create: (type, object) => write('pods', () => cluster.create(type, object)),
      update: (type, object, options?: WriteOptions) =>
        write('replicaSets', () => cluster.update(type, object, options)),
      patch: (type, ref, patch) =>
        write('pods', async () => {
          const current = await cluster.get(type, ref);
          const body = patch.body as { metadata: { ownerReferences: { $patch?: string; uid: string }[] } };
          const [reference] = body.metadata.ownerReferences;
          current.metadata.ownerReferences =
            reference?.$patch === 'delete' ? [] : (body.metadata.ownerReferences as []);
          return (await cluster.update(type, current)) as never;
        }),
      delete: (type, ref, options) => run.effect(() => cluster.delete(type, ref, options)),
      deleteCollection: (type, options) => run.effect(() => cluster.deleteCollection(type, options)),
      watch: () => cluster.watch(),
      discover: () => cluster.discover(),
      ping: () => cluster.ping(),
    };
  }
}

/** Counts the effects of one activation and breaks one of them. */
class Run {
  effects = 0;
  readonly confirmed = { pods: '0', replicaSets: '0' };
  private readonly abort = new AbortController();

  constructor(private readonly faultAt: { effect: number; fault: Fault } | undefined) {}

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  async read<T>(work: () => Promise<T>): Promise<T> {
    this.signal.throwIfAborted();
    return work();
  }

  async effect<T>(work: () => Promise<T>): Promise<T> {
    this.signal.throwIfAborted();
    const fault = this.effects++ === this.faultAt?.effect ? this.faultAt.fault : undefined;
    if (fault === 'killed-before') this.kill();
    if (fault === 'never-arrived') throw new Error('connection reset');
    if (fault === 'refused') throw refusal(403, 'Forbidden', 'exceeded quota');
    const answer = await work();
    if (fault === 'killed-after') this.kill();
    if (fault === 'answer-lost') throw new Error('socket hang up');
    // Others of the same batch die with the process, some of them after they were carried out.
    this.signal.throwIfAborted();
    return answer;
  }

  private kill(): never {
    this.abort.abort(new KeyLockLostError('killed by the test'));
    throw this.signal.reason as Error;
  }
}

/** A ReplicaSet `default/web` that selects `app: web`. */
export function aReplicaSet(spec: Partial<ReplicaSet['spec']> = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'default', generation: 1, labels: { app: 'web' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx' }] },
      },
      ...spec,
    },
  };
}
