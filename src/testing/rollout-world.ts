import { ApiStatusError } from '@rollkeeper/client/api-client/api-status-error';
import type {
  DeleteOptions,
  DeleteResult,
  PatchType,
  WriteOptions,
} from '@rollkeeper/client/api-client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { InMemoryApi } from './in-memory/in-memory-api.js';
import type { AttemptedWrite } from './in-memory/in-memory-api.js';
import { ReconcilerRun } from './in-memory/run-reconciler.js';
import { StandingClock } from './in-memory/standing-clock.js';
import type { ControllerDefinition } from '../runtime/controller/controller-definition.js';
import { EXPERIMENT, HTTPRoute, deploymentController } from '@rollkeeper/controllers/deployment';
import { disruptionController } from '../controllers/disruption/disruption-controller.js';
import { ConfigMap, PodDisruptionBudget, Secret } from '@rollkeeper/runtime';
import {
  awaitsCopies,
  decideMarks,
  isNamed,
  readFirstToGo,
  readZoneFirst,
  readingCopies,
  replacesAfterEnd,
  withGranted,
} from '@rollkeeper/controllers/shared';
import type { MarkedPod } from '@rollkeeper/controllers/shared';
import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  Pod,
  ReplicaSet,
  Service,
  compileLabelSelector,
  isPodReady,
  isTerminating,
  newControllerRef,
  semanticEqual,
} from '@rollkeeper/machinery/kubernetes';

export const WORLD_NOW_MS = Date.UTC(2026, 0, 1, 12);

/** An image whose pods never become ready. */
export const BROKEN_IMAGE = 'app:broken';

/** The kinds that the Deployment controller writes. */
const WRITTEN: ReadonlySet<string> = new Set(
  [Deployment, ReplicaSet, Service, PodDisruptionBudget, HTTPRoute].map(({ resource }) => resource),
);

const COPIED: ReadonlySet<string> = new Set([ConfigMap, Secret].map(({ resource }) => resource));

export interface WorldOptions {
  readonly deployment: Deployment;
  readonly random: RandomSource;
  /** @default it stays at {@link WORLD_NOW_MS} */
  readonly clock?: Clock;
  /** The Deployment controller. @default ours, with its defaults */
  readonly controller?: ControllerDefinition;
  /** Called before each write of the Deployment controller; if it throws, that is the API's answer. */
  readonly onWrite?: (write: AttemptedWrite) => void;
}

/**
 * A minimal cluster around the real Deployment controller: a ReplicaSet controller that reports what it saw before it
 * acted, as the genuine one does, and slow kubelets. Every move is made by the test.
 */
export class RolloutWorld {
  readonly api: GenerationApi;
  /** Tells which images have pods that never become ready. */
  breaks = (image: string): boolean => image === BROKEN_IMAGE;
  /** The node of the pod of this number. @default none */
  nodeOf: (pod: number) => string | undefined = () => undefined;
  /** The zone of a node: under the policy `zones` a ReplicaSet chooses by it which pods go first. */
  zoneOf: (node: string) => string = () => '';
  /** The answer of a pod's node to a resize: the condition PodResizePending. @default it is carried out at once */
  resizeAnswer: (pod: Pod) => { readonly reason: 'Deferred' | 'Infeasible' } | undefined = () => undefined;
  /** How many pods the nodes have room for; of others the scheduler says that they do not fit. */
  room = Infinity;
  /** Pods whose end takes longer than a test. */
  lingers: (pod: Pod) => boolean = () => false;
  /** Called before each write of the Deployment controller, last; what it throws is the API's answer. */
  onEffect: () => void = () => undefined;
  /** Called when the others have moved: what the test puts beside them moves as well. */
  onMove: () => void = () => undefined;
  /** Whether pods of experiments become available whenever all settle. */
  startsExperiments = false;
  private readonly run: ReconcilerRun;
  private readonly disruption: ReconcilerRun;
  private readonly clock: Clock;
  private isOthersWrite = false;
  private pods = 0;

  constructor(private readonly options: WorldOptions) {
    this.clock = options.clock ?? new StandingClock(WORLD_NOW_MS);
    this.api = new GenerationApi((write) => {
      // The rest is the test's own.
      const isResize = write.subresource === 'resize';
      const isCopy = COPIED.has(write.type.resource) && write.verb === 'create';
      if (!(WRITTEN.has(write.type.resource) || isResize || isCopy) || this.isOthersWrite) return;
      options.onWrite?.(write);
      this.onEffect();
    });
    this.api.seed(Deployment, options.deployment);
    this.run = new ReconcilerRun(options.controller ?? deploymentController, this.api, this.clock);
    this.disruption = new ReconcilerRun(disruptionController, this.api, this.clock);
  }

  get deployment(): Deployment {
    const [deployment] = this.api.all<Deployment>(Deployment);
    if (!deployment) throw new Error('the Deployment is gone');
    return deployment;
  }

  get replicaSets(): ReplicaSet[] {
    return this.api.all<ReplicaSet>(ReplicaSet).filter((set) => !isOfExperiment(set));
  }

  /** ReplicaSets of experiments, which the Deployment does not count. */
  get experimentSets(): ReplicaSet[] {
    return this.api.all<ReplicaSet>(ReplicaSet).filter(isOfExperiment);
  }

  /** All pods of experiments are available. */
  startExperiments(): void {
    for (const set of this.experimentSets) {
      const { replicas = 1 } = set.spec;
      if (set.status?.availableReplicas === replicas) continue;
      const status = { replicas, readyReplicas: replicas, availableReplicas: replicas };
      this.api.seed(ReplicaSet, { ...set, status });
    }
  }

  get budgets(): PodDisruptionBudget[] {
    return this.api.all<PodDisruptionBudget>(PodDisruptionBudget);
  }

  get allPods(): Pod[] {
    return this.api.all<Pod>(Pod);
  }

  /** Pods in service: ready and not terminating. */
  get availablePods(): Pod[] {
    return this.allPods.filter((pod) => this.isServing(pod));
  }

  /** When the last sync wanted to come back. */
  get requeueAfterMs(): number | undefined {
    return this.run.requeueAfterMs;
  }

  get events(): readonly string[] {
    return this.run.notes.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  }

  /** One sync of the Deployment, or of another one. */
  async sync(ref: ObjectRef = this.deployment.metadata): Promise<void> {
    await this.run.once(ref);
  }

  /** One sync of a ReplicaSet: its status counts the pods from before it created or deleted some. */
  async syncReplicaSet(replicaSet: ReplicaSet): Promise<void> {
    const pods = this.podsOf(replicaSet).filter((pod) => !isTerminating(pod));
    const wanted = replicaSet.spec.replicas ?? 1;
    const ending = replacesAfterEnd(replicaSet) ? this.podsOf(replicaSet).length - pods.length : 0;
    const created = awaitsCopies(replicaSet) ? 0 : wanted;
    for (let i = pods.length + ending; i < created; i++) this.createPod(replicaSet);
    const zone = readZoneFirst(replicaSet)?.value;
    const isSpared = (pod: Pod): boolean =>
      zone !== undefined && this.zoneOf(pod.spec.nodeName ?? '') !== zone;
    const named = readFirstToGo(replicaSet, wanted);
    const isFirst = (pod: Pod): boolean => named !== undefined && isNamed(named, pod);
    const byReadiness = (a: Pod, b: Pod): number => Number(isPodReady(a)) - Number(isPodReady(b));
    const byName = (a: Pod, b: Pod): number => Number(isFirst(b)) - Number(isFirst(a));
    const [first, second] = named?.beforeUnready ? [byName, byReadiness] : [byReadiness, byName];
    const victims = [...pods].sort(
      (a, b) => first(a, b) || second(a, b) || Number(isSpared(a)) - Number(isSpared(b)),
    );
    for (const pod of victims.slice(0, Math.max(0, pods.length - wanted))) this.terminate(pod);
    const ready = pods.filter(isPodReady).length;
    for (const { name, patch } of decideMarks(replicaSet, pods)) this.mark(name, patch.metadata);
    const status = {
      replicas: pods.length,
      readyReplicas: ready,
      availableReplicas: ready,
      observedGeneration: replicaSet.metadata.generation ?? 0,
    };
    if (!semanticEqual(status, replicaSet.status)) this.api.seed(ReplicaSet, { ...replicaSet, status });
  }

  /** One sync of the genuine disruption controller's counterpart. */
  async syncBudget({ metadata }: PodDisruptionBudget): Promise<void> {
    this.isOthersWrite = true;
    await this.disruption.once(metadata).finally(() => (this.isOthersWrite = false));
  }

  /** A drain evicts a pod where its budgets let it: the budget's status is written before the pod goes. */
  evict(pod: Pod): void {
    if (isTerminating(pod)) return;
    const asked = this.budgets.filter(({ spec }) =>
      compileLabelSelector(spec?.selector)(pod.metadata.labels),
    );
    if (isPodReady(pod)) {
      if (asked.some((budget) => !allowsOne(budget))) return;
      for (const budget of asked)
        this.api.seed(PodDisruptionBudget, withGranted(budget, [pod.metadata.name], this.clock.now()));
    }
    this.terminate(pod);
  }

  /** A kubelet starts a pod, unless its image is broken. */
  startPod(pod: Pod): void {
    const isUnfit = isUnscheduled(pod);
    if (isTerminating(pod) || isPodReady(pod) || (isUnfit && this.isFull)) return;
    const spec = isUnfit ? { ...pod.spec, nodeName: this.nodeOf(this.pods) } : pod.spec;
    if (this.breaks(pod.spec.containers[0]?.image ?? '')) return;
    this.api.seed(Pod, {
      ...pod,
      spec,
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  /** A kubelet says what becomes of the resources that a running pod asks for. */
  answerResize(pod: Pod): void {
    const answer = this.resizeAnswer(pod);
    const others = pod.status?.conditions?.filter(({ type }) => type !== 'PodResizePending') ?? [];
    const lastTransitionTime = toRfc3339(WORLD_NOW_MS);
    const pending = answer && {
      type: 'PodResizePending',
      status: 'True',
      message: 'no room',
      lastTransitionTime,
    };
    const conditions = pending ? [...others, { ...pending, ...answer }] : others;
    if (!pod.status || semanticEqual(conditions, pod.status.conditions ?? [])) return;
    this.api.seed(Pod, { ...pod, status: { ...pod.status, conditions } });
  }

  /** A kubelet has stopped a terminating pod. */
  async stopPod(pod: Pod): Promise<void> {
    if (isTerminating(pod)) await this.api.delete(Pod, pod.metadata);
  }

  /** A user changes the Deployment. */
  change(change: (deployment: Deployment) => void): void {
    const deployment = structuredClone(this.deployment);
    change(deployment);
    deployment.metadata.generation = (deployment.metadata.generation ?? 1) + 1;
    this.api.seed(Deployment, deployment);
  }

  /** All parts except the Deployment controller run until they have nothing left to do. */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.api.changes;) {
      before = this.api.changes;
      for (const replicaSet of this.replicaSets) await this.syncReplicaSet(replicaSet);
      for (const pod of this.allPods) this.startPod(pod);
      if (this.startsExperiments) this.startExperiments();
      await this.collectServices();
      for (const pod of this.allPods) this.answerResize(pod);
      for (const pod of this.allPods) if (!this.lingers(pod)) await this.stopPod(pod);
      for (const budget of this.budgets) await this.syncBudget(budget);
      this.onMove();
    }
  }

  /** One random move of any part. */
  async move(): Promise<void> {
    const { budgets } = this;
    const choice = Math.floor(this.options.random.next() * (budgets.length > 0 ? 6 : 4));
    const replicaSet = this.pick(this.replicaSets);
    const pod = this.pick(this.allPods);
    if (choice === 0) await this.sync().catch(ignoreRefusal);
    else if (choice === 1 && replicaSet) await this.syncReplicaSet(replicaSet);
    else if (choice === 2 && pod) this.startPod(pod);
    else if (choice === 3 && pod) await this.stopPod(pod);
    else if (choice === 4) for (const budget of budgets) await this.syncBudget(budget);
    else if (choice === 5 && pod && this.options.random.next() < 0.3) this.evict(pod);
    this.onMove();
  }

  /** The garbage collector removes Services whose ReplicaSet is gone. */
  private async collectServices(): Promise<void> {
    const living = new Set(this.api.all<ReplicaSet>(ReplicaSet).map(({ metadata }) => metadata.uid));
    for (const { metadata } of this.api.all<Service>(Service)) {
      const owner = metadata.ownerReferences?.find(({ kind }) => kind === ReplicaSet.kind);
      if (!owner || living.has(owner.uid)) continue;
      this.isOthersWrite = true;
      await this.api.delete(Service, metadata).finally(() => (this.isOthersWrite = false));
    }
  }

  isServing(pod: Pod): boolean {
    return isPodReady(pod) && !isTerminating(pod);
  }

  podsOf(replicaSet: ReplicaSet): Pod[] {
    const { uid } = replicaSet.metadata;
    return this.allPods.filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === uid);
  }

  private pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.options.random.next() * from.length)];
  }

  private createPod(replicaSet: ReplicaSet): void {
    const { name, namespace } = replicaSet.metadata;
    const template = structuredClone(replicaSet.spec.template);
    const { isFull } = this;
    const now = toRfc3339(this.clock.now());
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${name}-${++this.pods}`,
        namespace,
        uid: `pod-${this.pods}`,
        creationTimestamp: now,
        labels: template?.metadata?.labels,
        ...(template?.metadata?.annotations && { annotations: template.metadata.annotations }),
        ownerReferences: [newControllerRef(replicaSet)],
      },
      spec: {
        ...(template?.spec as Pod['spec']),
        ...(!isFull && { nodeName: this.nodeOf(this.pods) }),
      },
      status: { phase: 'Pending', ...(isFull && { conditions: [doesNotFit(now)] }) },
    };
    this.api.seed<Pod>(Pod, readingCopies(pod, replicaSet));
  }

  private get isFull(): boolean {
    return this.allPods.filter((pod) => !isUnscheduled(pod)).length >= this.room;
  }

  /** Applies a merge patch of labels and annotations. */
  private mark(name: string, { annotations, labels }: MarkedPod['patch']['metadata']): void {
    const pod = this.allPods.find(({ metadata }) => metadata.name === name);
    if (!pod || isTerminating(pod)) return;
    const merged = (before: Record<string, string> = {}, marks: typeof labels = {}) =>
      Object.fromEntries(
        Object.entries({ ...before, ...marks }).flatMap(([key, value]) =>
          value === null ? [] : [[key, value] as const],
        ),
      );
    const { metadata } = pod;
    const marked = {
      ...metadata,
      labels: merged(metadata.labels, labels),
      annotations: merged(metadata.annotations, annotations),
    };
    this.api.seed<Pod>(Pod, { ...pod, metadata: marked });
  }

  private terminate(pod: Pod): void {
    const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T12:00:00Z' };
    this.api.seed(Pod, { ...pod, metadata });
  }
}

function isUnscheduled({ status }: Pod): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'Unschedulable') === true;
}

function doesNotFit(now: string) {
  return {
    type: 'PodScheduled',
    status: 'False' as const,
    reason: 'Unschedulable',
    message: '0/3 nodes are available: 3 Insufficient cpu.',
    lastTransitionTime: now,
  };
}

/** Whether a ReplicaSet is one of an experiment, and so in no count of a rollout. */
export function isOfExperiment({ metadata }: ReplicaSet): boolean {
  return metadata.labels?.[EXPERIMENT] !== undefined;
}

/** Increments generations, as the API server does, and counts every change. */
class GenerationApi extends InMemoryApi {
  changes = 0;

  override seed<T extends KubernetesObject>(type: ResourceType, object: T): T {
    this.changes++;
    return super.seed(type, object);
  }

  override async create<T extends KubernetesObject>(type: ResourceType, object: T): Promise<T> {
    this.changes++;
    const metadata = { ...object.metadata, generation: 1, creationTimestamp: this.nextTime() };
    return super.create(type, { ...object, metadata });
  }

  override async update<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    this.changes++;
    const current = await this.get<T>(type, object.metadata);
    const changed = options.subresource === undefined && !semanticEqual(specOf(current), specOf(object));
    const generation = (current.metadata.generation ?? 1) + (changed ? 1 : 0);
    return super.update(type, { ...object, metadata: { ...object.metadata, generation } }, options);
  }

  override async patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions = {},
  ): Promise<T> {
    this.changes++;
    const before = await this.get<T>(type, ref);
    const after = await super.patch<T>(type, ref, patch, options);
    const { generation } = before.metadata;
    if (generation === undefined || semanticEqual(specOf(before), specOf(after))) return after;
    return super.seed<T>(type, { ...after, metadata: { ...after.metadata, generation: generation + 1 } });
  }

  override async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<T>> {
    this.changes++;
    return super.delete(type, ref, options);
  }

  private nextTime(): string {
    return new Date(WORLD_NOW_MS + 1000 * this.writes.length).toISOString().replace('.000', '');
  }
}

/** An error answer that a controller must survive. */
export function refusal(code: number): ApiStatusError {
  return new ApiStatusError({ code, reason: code === 409 ? 'Conflict' : 'InternalError' });
}

function allowsOne({ metadata, status }: PodDisruptionBudget): boolean {
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status?.disruptionsAllowed ?? 0) > 0
  );
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiStatusError)) throw error;
}

function specOf(object: unknown): unknown {
  return (object as { spec?: unknown }).spec;
}
