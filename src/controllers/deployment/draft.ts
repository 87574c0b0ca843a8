import type { EventNote } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
  OwnerReference,
  PodTemplateSpec,
  ReplicaSet,
  ReplicaSetSpec,
  ReplicaSetStatus,
} from '@rollkeeper/machinery/kubernetes';
import { newControllerRef, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { DESIRED_REPLICAS, MAX_REPLICAS } from './annotations.js';
import { clampToInt32 } from './int32.js';
import { maxTotalReplicas, replicasOf } from './limits.js';
import type { RolloutRules } from './deployment.options.js';
import type { PolicyOutcome } from './policies/outcome.js';

/**
 * A ReplicaSet as a pass would leave it. What may change is copied out of the observed object, which stays as it
 * is; the status is always what was observed, because only the ReplicaSet controller can say how the pods are.
 */
export interface ReplicaSetDraft {
  readonly name: string;
  /** Absent for one that this pass creates. */
  readonly observed?: DeepReadonly<ReplicaSet>;
  /** The labels, the selector and the template of one that this pass creates; else the observed ones. */
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: DeepReadonly<ReplicaSetSpec['selector']>;
  readonly template: DeepReadonly<PodTemplateSpec>;
  readonly status: DeepReadonly<Partial<ReplicaSetStatus>>;
  replicas: number;
  minReadySeconds: number;
  annotations: Record<string, string>;
  /** What is written along with the next other change. */
  laterAnnotations?: Record<string, string>;
  ownerReferences: readonly DeepReadonly<OwnerReference>[];
  deleted: boolean;
}

/** One size that a step decided. */
export interface SizeStep {
  readonly replicaSet: ReplicaSetDraft;
  readonly from: number;
  readonly to: number;
}

/** The ways that a pass can take, in the order in which they are looked at. */
export type RolloutBranch = 'deletion' | 'paused' | 'rollback' | 'scale' | 'rolling-update' | 'recreate';

/** What the policies ask of the steps. */
export interface PolicyLimits {
  /** How large the new ReplicaSet may become; the others keep what it may not have. @default all */
  cap?: number;
  /** Another template than the Deployment's runs for now, so no revision changes. */
  keepsRevisions?: boolean;
  /** Of versions that failed: a change of size must not give them more pods. */
  mayNotGrow?: ReadonlySet<ReplicaSetDraft>;
  /** Not deleted with the history: it is what a failure would go back to. */
  keptForRollback?: ReplicaSetDraft;
}

/** What a pass works on, and what it has decided so far. */
export interface Draft {
  readonly observed: DeepReadonly<Deployment>;
  readonly now: string;
  readonly nowMs: number;
  /** The template that a rollback restored, else the observed one. */
  readonly spec: DeepReadonly<DeploymentSpec>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: DeepReadonly<DeploymentStatus>;
  readonly replicaSets: readonly ReplicaSetDraft[];
  /** Events other than those of scaling, in order. */
  readonly notes: readonly EventNote[];
}

export interface DraftInput {
  readonly deployment: DeepReadonly<Deployment>;
  /** The Deployment's own, and those that it adopts in this pass. */
  readonly owned: readonly DeepReadonly<ReplicaSet>[];
  readonly adopted: readonly DeepReadonly<ReplicaSet>[];
  readonly now: string;
  readonly nowMs: number;
}

/**
 * The in-memory world in which the single steps of a sync are played through. Every setter compares first, so that
 * `version` stands still exactly when a step would have written nothing.
 */
export class RolloutDraft implements Draft, PolicyLimits {
  readonly observed: DeepReadonly<Deployment>;
  readonly now: string;
  readonly nowMs: number;
  spec: DeepReadonly<DeploymentSpec>;
  annotations: Record<string, string>;
  status: DeepReadonly<DeploymentStatus>;
  readonly notes: EventNote[] = [];
  /** Every size that was decided, in order: 0 to its first size for a ReplicaSet that the pass creates. */
  readonly sizeSteps: SizeStep[] = [];
  /** The way that the pass took first, for those who look on. */
  branch: RolloutBranch | undefined;
  /** The new ReplicaSet, when a Recreate starts it in this pass. */
  startedByRecreate?: ReplicaSetDraft;
  cap?: number;
  keepsRevisions?: boolean;
  mayNotGrow?: ReadonlySet<ReplicaSetDraft>;
  keptForRollback?: ReplicaSetDraft;
  /** What the policies have come to, where there are any. */
  policy?: PolicyOutcome;
  private readonly sets: ReplicaSetDraft[];
  private changes = 0;

  constructor(input: DraftInput) {
    this.observed = input.deployment;
    this.now = input.now;
    this.nowMs = input.nowMs;
    this.spec = input.deployment.spec;
    this.annotations = { ...input.deployment.metadata.annotations };
    this.status = input.deployment.status ?? {};
    const reference = newControllerRef(input.deployment);
    this.sets = [
      ...input.owned.map((replicaSet) => draftOf(replicaSet, replicaSet.metadata.ownerReferences ?? [])),
      ...input.adopted.map((replicaSet) =>
        // In front, where the API puts it for a controller that adopts by a patch.
        draftOf(replicaSet, [reference, ...(replicaSet.metadata.ownerReferences ?? [])]),
      ),
    ].sort(byCreation);
  }

  get name(): string {
    return this.observed.metadata.name;
  }

  get replicas(): number {
    return replicasOf(this.spec);
  }

  /** The size that the new ReplicaSet is on its way to. */
  get newSize(): number {
    return Math.min(this.replicas, this.cap ?? Infinity);
  }

  /** Counts the changes so far. */
  get version(): number {
    return this.changes;
  }

  get replicaSets(): readonly ReplicaSetDraft[] {
    return this.sets;
  }

  /** Those that will still be there, oldest first. */
  get living(): ReplicaSetDraft[] {
    return this.sets.filter((replicaSet) => !replicaSet.deleted);
  }

  setStatus(status: DeepReadonly<DeploymentStatus>): void {
    if (semanticEqual(status, this.status)) return;
    this.status = status;
    this.changes++;
  }

  setAnnotation(name: string, value: string): void {
    if (this.annotations[name] === value) return;
    this.annotations = { ...this.annotations, [name]: value };
    this.changes++;
  }

  /** What a rollback writes: other annotations, and perhaps another template. */
  replaceMetadata(annotations: Record<string, string>, template = this.spec.template): void {
    this.annotations = annotations;
    if (template !== this.spec.template) this.spec = { ...this.spec, template };
    this.changes++;
  }

  note(note: EventNote): void {
    this.notes.push(note);
  }

  add(replicaSet: ReplicaSetDraft): void {
    this.sets.push(replicaSet);
    this.sets.sort(byCreation);
    this.sizeSteps.push({ replicaSet, from: 0, to: replicaSet.replicas });
    this.changes++;
  }

  delete(replicaSet: ReplicaSetDraft): void {
    replicaSet.deleted = true;
    this.changes++;
  }

  annotate(replicaSet: ReplicaSetDraft, annotations: Record<string, string>): void {
    if (semanticEqual(annotations, replicaSet.annotations)) return;
    replicaSet.annotations = annotations;
    this.changes++;
  }

  /** As `annotate`, but only together with another change. */
  annotateLater(replicaSet: ReplicaSetDraft, annotations: Record<string, string>): void {
    replicaSet.laterAnnotations = annotations;
  }

  setMinReadySeconds(replicaSet: ReplicaSetDraft, seconds: number): void {
    if (replicaSet.minReadySeconds === seconds) return;
    replicaSet.minReadySeconds = seconds;
    this.changes++;
    this.annotate(replicaSet, { ...replicaSet.annotations, ...replicaSet.laterAnnotations });
  }

  /**
   * Gives a ReplicaSet its size, and notes on it the whole of which that size is a part. Returns whether the size
   * changed; the annotations alone may change as well.
   */
  scale(replicaSet: ReplicaSetDraft, wanted: number): boolean {
    const size = clampToInt32(wanted);
    const resized = replicaSet.replicas !== size;
    if (resized) {
      this.sizeSteps.push({ replicaSet, from: replicaSet.replicas, to: size });
      replicaSet.replicas = size;
      this.changes++;
    }
    const { annotations, laterAnnotations } = replicaSet;
    const noted = { ...annotations, ...sizeAnnotations(this.spec) };
    const isWritten = resized || !semanticEqual(noted, annotations);
    if (isWritten) this.annotate(replicaSet, { ...laterAnnotations, ...noted });
    return resized;
  }
}

/** What `scale` notes on a ReplicaSet. */
export function sizeAnnotations(spec: DeepReadonly<DeploymentSpec>): Record<string, string> {
  return {
    [DESIRED_REPLICAS]: String(replicasOf(spec)),
    [MAX_REPLICAS]: String(clampToInt32(maxTotalReplicas(spec))),
  };
}

/** Those with a size above zero. */
export function activeOf(replicaSets: readonly ReplicaSetDraft[]): ReplicaSetDraft[] {
  return replicaSets.filter((replicaSet) => replicaSet.replicas > 0);
}

/** The sum of the sizes asked for. */
export function totalReplicas(replicaSets: readonly ReplicaSetDraft[]): number {
  return replicaSets.reduce((sum, replicaSet) => sum + replicaSet.replicas, 0);
}

/** Oldest first, one that is created in this pass last; by name where the second of creation is the same. */
export function byCreation(a: ReplicaSetDraft, b: ReplicaSetDraft): number {
  if (!a.observed !== !b.observed) return a.observed ? -1 : 1;
  const createdA = a.observed?.metadata.creationTimestamp ?? '';
  const createdB = b.observed?.metadata.creationTimestamp ?? '';
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * Whether the status answers to the size that was asked for before this pass. If not, its pods may be others by
 * now: after 1 → 0 → 1 it can still tell of an available pod that was asked to stop in between.
 */
export function isObserved({ observed, status }: ReplicaSetDraft): boolean {
  return observed !== undefined && (observed.metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
}

/** Whether the ReplicaSet controller has seen everything that we ask for, this pass included. */
export function isUpToDate(replicaSet: ReplicaSetDraft): boolean {
  return isObserved(replicaSet) && replicaSet.replicas === (replicaSet.observed?.spec.replicas ?? 1);
}

function draftOf(
  observed: DeepReadonly<ReplicaSet>,
  ownerReferences: readonly DeepReadonly<OwnerReference>[],
): ReplicaSetDraft {
  return {
    name: observed.metadata.name,
    observed,
    labels: observed.metadata.labels ?? {},
    selector: observed.spec.selector,
    template: observed.spec.template ?? {},
    status: observed.status ?? {},
    replicas: observed.spec.replicas ?? 1,
    minReadySeconds: observed.spec.minReadySeconds ?? 0,
    annotations: { ...observed.metadata.annotations },
    ownerReferences,
    deleted: false,
  };
}

/** A Deployment's ReplicaSets by their part in the rollout. */
export interface RolloutSets {
  /** The one whose template is the Deployment's. */
  readonly latest?: ReplicaSetDraft;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSetDraft[];
  readonly all: readonly ReplicaSetDraft[];
}

/** Those of a rollout whose latest ReplicaSet is there. */
export interface CompleteRolloutSets extends RolloutSets {
  readonly latest: ReplicaSetDraft;
}

/** The pods that are known to be available; none while the status answers to an earlier size. */
export function available(replicaSet: ReplicaSetDraft, { floor }: Pick<RolloutRules, 'floor'>): number {
  return floor && !isObserved(replicaSet) ? 0 : (replicaSet.status.availableReplicas ?? 0);
}

export function sumAvailable(
  replicaSets: readonly ReplicaSetDraft[],
  rules: Pick<RolloutRules, 'floor'>,
): number {
  return replicaSets.reduce((sum, replicaSet) => sum + available(replicaSet, rules), 0);
}

/**
 * The available pods that stay, whatever the ReplicaSet controller has just done: while a ReplicaSet shrinks, its
 * status still tells of pods that are on their way out. Growing again in this pass does not bring them back.
 */
export function lastingAvailable(replicaSet: ReplicaSetDraft, rules: Pick<RolloutRules, 'floor'>): number {
  const known = available(replicaSet, rules);
  if (!rules.floor) return known;
  return Math.min(known, replicaSet.replicas, replicaSet.observed?.spec.replicas ?? 1);
}
