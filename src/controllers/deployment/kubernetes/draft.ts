import type { EventNote } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
  NameTrust,
  PodTemplateSpec,
  ReplicaSet,
} from '@rollkeeper/machinery/kubernetes';
import { newControllerRef, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { DESIRED_REPLICAS, MAX_REPLICAS } from './annotations.js';
import { clampToInt32 } from './int32.js';
import { maxTotalReplicas, minAvailable, replicasOf } from './limits.js';
import { byCreation, draftOf, type ReplicaSetDraft } from './replica-set-draft.js';
import { mergeLimits, type RolloutLimits } from './rollout-limits.js';

/** A size decided by a step. */
export interface SizeStep {
  readonly replicaSet: ReplicaSetDraft;
  readonly from: number;
  readonly to: number;
}

/** The branches of a pass, in the order of evaluation. */
export type RolloutBranch = 'deletion' | 'paused' | 'rollback' | 'scale' | 'rolling-update' | 'recreate';

/** The working state of a pass, and its decisions so far. */
interface Draft {
  readonly observed: DeepReadonly<Deployment>;
  readonly now: string;
  readonly nowMs: number;
  /** The template restored by a rollback, otherwise the observed one. */
  readonly spec: DeepReadonly<DeploymentSpec>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: DeepReadonly<DeploymentStatus>;
  readonly replicaSets: readonly ReplicaSetDraft[];
  /** Events other than those of scaling, in order. */
  readonly notes: readonly EventNote[];
}

interface DraftInput {
  readonly deployment: DeepReadonly<Deployment>;
  /** The Deployment's own, and those that it adopts in this pass. */
  readonly owned: readonly DeepReadonly<ReplicaSet>[];
  readonly adopted: readonly DeepReadonly<ReplicaSet>[];
  readonly now: string;
  readonly nowMs: number;
  /** The field manager that wrote the template last. @default not known */
  readonly templateManager?: string;
  /** Whether names in annotations can be believed. @default claimed */
  readonly names?: NameTrust;
  /** The number that the new ReplicaSet has at least. @default 0n: its own is one more than the highest */
  readonly leastRevision?: bigint;
}

/**
 * The in-memory state on which the single steps of a sync are played. Every setter compares first, so that `version` is
 * unchanged exactly if a step would have written nothing.
 */
export class RolloutDraft implements Draft {
  readonly observed: DeepReadonly<Deployment>;
  readonly now: string;
  readonly nowMs: number;
  readonly templateManager?: string;
  readonly names: NameTrust;
  spec: DeepReadonly<DeploymentSpec>;
  annotations: Record<string, string>;
  status: DeepReadonly<DeploymentStatus>;
  readonly notes: EventNote[] = [];
  /** Every decided size, in order: from 0 for a ReplicaSet that the pass creates. */
  readonly sizeSteps: SizeStep[] = [];
  /** The first branch that the pass took, for observers. */
  branch: RolloutBranch | undefined;
  /** The new ReplicaSet, if a Recreate starts it in this pass. */
  startedByRecreate?: ReplicaSetDraft;
  /** Another template than the Deployment's runs for now, so no revision changes. */
  keepsRevisions = false;
  /** The number that the new ReplicaSet has at least; a set's revisions are numbered by Kubernetes. */
  readonly leastRevision: bigint;
  /** The version that runs in place of the one that is asked for. */
  runsInstead?: ReplicaSetDraft;
  /** A ReplicaSet should have grown, but pods that are ending take the room. */
  isHeldBack = false;
  private asked: RolloutLimits = {};
  private readonly sets: ReplicaSetDraft[];
  private changes = 0;

  constructor(input: DraftInput) {
    this.observed = input.deployment;
    this.now = input.now;
    this.nowMs = input.nowMs;
    this.templateManager = input.templateManager;
    this.names = input.names ?? 'claimed';
    this.leastRevision = input.leastRevision ?? 0n;
    this.spec = input.deployment.spec;
    this.annotations = { ...input.deployment.metadata.annotations };
    this.status = input.deployment.status ?? {};
    const reference = newControllerRef(input.deployment);
    this.sets = [
      ...input.owned.map((replicaSet) => draftOf(replicaSet, replicaSet.metadata.ownerReferences ?? [])),
      ...input.adopted.map((replicaSet) =>
        // At the front, where the API puts it when a controller adopts by a patch.
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
    return Math.min(this.replicas, this.limits.most ?? Infinity);
  }

  /** The fewest pods that a rollout must leave available. */
  get floor(): number {
    return Math.max(0, minAvailable(this.spec) - (this.limits.lent ?? 0));
  }

  /** The limits that the policies set the steps. */
  get limits(): RolloutLimits {
    return this.asked;
  }

  /** Number of changes so far. */
  get version(): number {
    return this.changes;
  }

  get replicaSets(): readonly ReplicaSetDraft[] {
    return this.sets;
  }

  /** The ReplicaSets that will still exist, oldest first. */
  get living(): ReplicaSetDraft[] {
    return this.sets.filter((replicaSet) => !replicaSet.deleted);
  }

  /** Adds what a policy asks of the steps. */
  limit(more: RolloutLimits): void {
    this.asked = mergeLimits(this.asked, more);
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

  /** The writes of a rollback: annotations, and possibly another template. */
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

  /** Its pods have been given what another template says, so it becomes the ReplicaSet of that one. */
  giveTemplate(
    replicaSet: ReplicaSetDraft,
    template: DeepReadonly<PodTemplateSpec>,
    annotations: Record<string, string>,
  ): void {
    replicaSet.template = template;
    replicaSet.annotations = annotations;
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

  /** As `annotate`, but only written together with another change. */
  annotateLater(replicaSet: ReplicaSetDraft, annotations: Record<string, string>): void {
    replicaSet.laterAnnotations = annotations;
  }

  setMinReadySeconds(replicaSet: ReplicaSetDraft, seconds: number): void {
    if (replicaSet.minReadySeconds === seconds) return;
    replicaSet.minReadySeconds = seconds;
    this.changes++;
    this.annotate(replicaSet, { ...replicaSet.annotations, ...replicaSet.laterAnnotations });
  }

  /** Limits a growth to the room that pods that are ending leave. */
  withinRoom(from: number, wanted: number): number {
    const { podsOccupiedBy } = this.limits;
    if (!podsOccupiedBy || wanted <= from) return wanted;
    const occupied = this.living.reduce((sum, set) => sum + (podsOccupiedBy(set) ?? Infinity), 0);
    const room = Math.max(0, maxTotalReplicas(this.spec) - occupied);
    if (from + room < wanted) this.isHeldBack = true;
    return Math.min(wanted, from + room);
  }

  /**
   * Sets a ReplicaSet's size, and records the total of which that size is a part. Returns whether the size changed; the
   * annotations may also change alone.
   */
  scale(replicaSet: ReplicaSetDraft, wanted: number): boolean {
    const size = clampToInt32(this.withinRoom(replicaSet.replicas, wanted));
    const resized = replicaSet.replicas !== size;
    if (resized) {
      this.sizeSteps.push({ replicaSet, from: replicaSet.replicas, to: size });
      replicaSet.replicas = size;
      this.changes++;
    }
    const { annotations, laterAnnotations } = replicaSet;
    // A share that is still to come belongs to the total from before.
    const isPart = size < wanted;
    const noted = isPart ? annotations : { ...annotations, ...sizeAnnotations(this.spec) };
    const isWritten = resized || !semanticEqual(noted, annotations);
    if (isWritten) this.annotate(replicaSet, { ...laterAnnotations, ...noted });
    return resized;
  }

  /** A rollout takes pods from a ReplicaSet, as far as it may. Returns how many. */
  shrink(replicaSet: ReplicaSetDraft, wanted: number): number {
    const before = replicaSet.replicas;
    const size = this.limits.shrinkLimit?.allow(replicaSet, wanted) ?? wanted;
    if (size < before && this.scale(replicaSet, size))
      this.annotate(replicaSet, {
        ...replicaSet.annotations,
        ...this.limits.shrinkLimit?.annotate(replicaSet),
      });
    return before - replicaSet.replicas;
  }
}

/** The annotations that `scale` sets on a ReplicaSet. */
export function sizeAnnotations(spec: DeepReadonly<DeploymentSpec>): Record<string, string> {
  return {
    [DESIRED_REPLICAS]: String(replicasOf(spec)),
    [MAX_REPLICAS]: String(clampToInt32(maxTotalReplicas(spec))),
  };
}

/** A Deployment's ReplicaSets by their role in the rollout. */
export interface RolloutSets {
  /** The one with the Deployment's template. */
  readonly latest?: ReplicaSetDraft;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSetDraft[];
  readonly all: readonly ReplicaSetDraft[];
}

/** The ReplicaSets of a rollout whose latest one exists. */
export interface CompleteRolloutSets extends RolloutSets {
  readonly latest: ReplicaSetDraft;
}
