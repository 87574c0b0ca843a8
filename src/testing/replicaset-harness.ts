import type { ApiClient, WriteOptions } from '@rollkeeper/client/api-client/api-client';
import { FakeClock, SeededRandom, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ReplicaSetControllerOptions } from '../controllers/replicaset/index.js';
import { ReplicaSetReconciler, compileReplicaSetControllerOptions } from '../controllers/replicaset/index.js';
import type { ReconcileResult } from '../runtime/controller/reconciler.js';
import { decideUnobserved, runSteps } from '../runtime/operator/define/sync-steps.js';
import { KeyLockLostError } from '@rollkeeper/machinery/errors';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Pod, ReplicaSet, isControlledBy, isPodActive } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { FakeCluster, refusal } from './fake-cluster.js';
import { LaggingCache } from './lagging-cache.js';
import { MemoryEventRecorder } from './memory-event-recorder.js';

/**
 * Faults at an effect (a write to the API, or storing intents): the process dies before or after it, the answer is
 * lost, it never arrives, or the server refuses it.
 */
export type Fault = 'killed-before' | 'killed-after' | 'answer-lost' | 'never-arrived' | 'refused';

interface ActivationOutcome {
  readonly effects: number;
  readonly error?: unknown;
  readonly result?: ReconcileResult;
}

/** One process that reconciles the ReplicaSet, with its view of the cluster. */
interface Process {
  readonly replicaSets: LaggingCache<ReplicaSet>;
  readonly pods: LaggingCache<Pod>;
  reconciler: ReplicaSetReconciler;
}

/** One ReplicaSet on a fake cluster, synced by activations that a test can break at any effect. */
export class ReplicaSetHarness {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster(this.clock);
  readonly events = new MemoryEventRecorder();
  readonly key = 'default/web';
  /** The stored state of the actor. */
  storedIntents: unknown;
  private mustHaveSeen: Versions = { pods: '0', replicaSets: '0' };
  private readonly random: SeededRandom;
  private readonly processes: readonly [Process, ...Process[]];

  constructor(
    replicas: number,
    private readonly setup: {
      seed?: number;
      options?: ReplicaSetControllerOptions;
      spec?: Partial<ReplicaSet['spec']>;
      /** Each has its own caches. @default 1 */
      processes?: number;
    } = {},
  ) {
    this.random = new SeededRandom(setup.seed ?? 1);
    const others = Array.from({ length: (setup.processes ?? 1) - 1 }, () => this.newProcess());
    this.processes = [this.newProcess(), ...others];
    this.cluster.seed(ReplicaSet, aReplicaSet({ replicas, ...setup.spec }));
    this.catchUp();
  }

  get replicaSet(): ReplicaSet {
    const replicaSet = this.cluster.peek<ReplicaSet>(ReplicaSet, this.key);
    if (!replicaSet) throw new Error('the ReplicaSet is gone');
    return replicaSet;
  }

  /** The ReplicaSet's active pods on the API server. */
  get activePods(): Pod[] {
    const { replicaSet } = this;
    return this.cluster.all<Pod>(Pod).filter((pod) => isPodActive(pod) && isControlledBy(pod, replicaSet));
  }

  /** Makes all of its active pods ready, as of now. */
  async makeAllReady(): Promise<void> {
    const lastTransitionTime = toRfc3339(this.clock.now());
    const conditions = [{ type: 'Ready', status: 'True' as const, lastTransitionTime }];
    for (const active of this.activePods)
      await this.changePod(active, (pod) => (pod.status = { phase: 'Running', conditions }));
  }

  /** The cache of the first process. */
  get replicaSets(): LaggingCache<ReplicaSet> {
    return this.processes[0].replicaSets;
  }

  /** The cache of the first process. */
  get pods(): LaggingCache<Pod> {
    return this.processes[0].pods;
  }

  /** Whether a change of a pod would cause a sync now, as the first process sees it. */
  get needsSync(): boolean {
    return this.processes[0].reconciler.needsSync(this.key);
  }

  /** The caches of process `index`. */
  cachesOf(index: number): Pick<Process, 'pods' | 'replicaSets'> {
    return this.process(index);
  }

  /** All caches catch up. */
  catchUp(): void {
    for (const { pods, replicaSets } of this.processes) {
      replicaSets.catchUp();
      pods.catchUp();
    }
  }

  async scale(replicas: number, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    const { replicaSet } = this;
    replicaSet.spec.replicas = replicas;
    replicaSet.metadata.annotations = { ...replicaSet.metadata.annotations, ...annotations };
    replicaSet.metadata.generation = (replicaSet.metadata.generation ?? 0) + 1;
    await this.cluster.update(ReplicaSet, replicaSet);
  }

  /** Changes a pod as its kubelet, or a user, would. */
  async changePod(pod: Pod, change: (pod: Pod) => void): Promise<void> {
    const changed = structuredClone(pod);
    delete changed.metadata.resourceVersion;
    change(changed);
    await this.cluster.update(Pod, changed);
  }

  /**
   * Runs one activation in process `index`, on a cache that has caught up at least with the known writes of the
   * previous ones. A killed activation leaves only what it had stored; a new process takes over, with its caches.
   */
  async activate(
    faultAt: { effect: number; fault: Fault } | undefined = undefined,
    index = 0,
  ): Promise<ActivationOutcome> {
    const process = this.process(index);
    process.replicaSets.catchUpTo(this.mustHaveSeen.replicaSets);
    process.pods.catchUpTo(this.mustHaveSeen.pods);
    const run = new Run(faultAt);
    const stored = { isCleared: false };
    const [namespace = '', name = ''] = this.key.split('/');
    const intents = {
      current: structuredClone(this.storedIntents),
      store: (next: unknown) =>
        run.effect(async () => {
          stored.isCleared = false;
          this.storedIntents = structuredClone(next);
          this.raise(run.seen);
        }),
      clear: () => (stored.isCleared = true),
      settledAt: (_type: ResourceType, version: string) => run.saw('pods', version),
    };
    try {
      const client = this.clientFor(run);
      const context = {
        signal: run.signal,
        client,
        events: this.events,
        intents: { ...intents, clear: () => void intents.clear() },
      };
      const request = { namespace, name, key: this.key };
      const result = await runSteps(process.reconciler, request, context, decideUnobserved);
      if (stored.isCleared) this.storedIntents = undefined;
      return { effects: run.effects, result };
    } catch (error) {
      if (run.signal.aborted) process.reconciler = this.newReconciler(process);
      else if (stored.isCleared) this.storedIntents = undefined;
      return { effects: run.effects, error };
    } finally {
      if (!run.signal.aborted) this.raise(run.seen);
    }
  }

  /** Activates on a fresh cache until a run writes nothing; returns the number of runs. */
  async settle(): Promise<number> {
    for (let runs = 1; runs <= 20; runs++) {
      this.catchUp();
      const wasNeeded = this.processes[0].reconciler.needsSync(this.key);
      const { effects, error } = await this.activate();
      if (!wasNeeded && effects > 0) throw new Error('no sync was said to be needed, and it did something');
      if (effects === 0 && !error && this.pods.lag + this.replicaSets.lag === 0) return runs;
    }
    throw new Error('the ReplicaSet does not come to rest');
  }

  private process(index: number): Process {
    const process = this.processes[index];
    if (!process) throw new Error(`there is no process ${index}`);
    return process;
  }

  /** The versions that the next activation must have seen, as the actor keeps them. */
  private raise(seen: Versions): void {
    this.mustHaveSeen = {
      pods: newer(this.mustHaveSeen.pods, seen.pods),
      replicaSets: newer(this.mustHaveSeen.replicaSets, seen.replicaSets),
    };
  }

  private newProcess(): Process {
    const caches = {
      replicaSets: new LaggingCache<ReplicaSet>(this.cluster, ReplicaSet),
      pods: new LaggingCache<Pod>(this.cluster, Pod),
    };
    return { ...caches, reconciler: this.newReconciler(caches) };
  }

  private newReconciler({ pods, replicaSets }: Pick<Process, 'pods' | 'replicaSets'>): ReplicaSetReconciler {
    return new ReplicaSetReconciler({
      replicaSets,
      pods,
      podAbsencesSeen: () => pods.resourceVersion,
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
      if (version) run.saw(kind, version);
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
          if (patch.type === 'merge') return cluster.patch(type, ref, patch);
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
      logs: () => cluster.logs(),
      exec: () => cluster.exec(),
      portForward: () => cluster.portForward(),
      discover: () => cluster.discover(),
      ping: () => cluster.ping(),
      verifiesNames: () => cluster.verifiesNames(),
    };
  }
}

/** Counts the effects of one activation and breaks one of them. */
class Run {
  effects = 0;
  /** The versions that the next activation must have seen as well. */
  readonly seen: Versions = { pods: '0', replicaSets: '0' };
  private readonly abort = new AbortController();

  constructor(private readonly faultAt: { effect: number; fault: Fault } | undefined) {}

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  saw(kind: keyof Versions, version: string): void {
    this.seen[kind] = newer(this.seen[kind], version);
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
    // Other writes of the same batch die with the process, some of them after they were executed.
    this.signal.throwIfAborted();
    return answer;
  }

  private kill(): never {
    this.abort.abort(new KeyLockLostError('killed by the test'));
    throw this.signal.reason as Error;
  }
}

interface Versions {
  pods: string;
  replicaSets: string;
}

function newer(one: string, other: string): string {
  return Number(other) > Number(one) ? other : one;
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
