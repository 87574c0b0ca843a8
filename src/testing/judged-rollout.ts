import type { AttemptedWrite } from './in-memory/in-memory-api.js';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { Deployment, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, isPodReady } from '@rollkeeper/machinery/kubernetes';
import { isRollingUpdate, maxTotalReplicas, minAvailable } from '@rollkeeper/controllers/deployment';
import type { WorldOptions } from './rollout-world.js';
import { RolloutWorld, isOfExperiment } from './rollout-world.js';

const SIZE_AT_START = 'rollkeeper.dev/size-at-start';

/**
 * A world that checks each size written by the Deployment controller, after any change of size, template, limits, pause
 * or strategy. A ReplicaSet's available pods are assumed to stay as far as its size allows, since its controller
 * deletes others first.
 *
 * - The floor: no write reduces the remaining available pods below the current `spec.replicas - maxUnavailable` or, if
 *   fewer were known to be available when the pass began, below that number. (Pods that became ready without any status
 *   update cannot be counted, and that others were evicted meanwhile cannot be known.)
 * - The ceiling: no write raises the sum of sizes above `spec.replicas + maxSurge`, and if it is above already, no
 *   write raises it further.
 */
export class JudgedRollout extends RolloutWorld {
  private known = 0;
  /** The size that the rollout began with, as noted before the pass: the one that ends it takes the note before the last old pods. */
  private start: number | undefined;
  /** Number of sizes checked. */
  judged = 0;

  constructor(options: WorldOptions) {
    super({
      ...options,
      onWrite: (write) => {
        options.onWrite?.(write);
        if (write.type === ReplicaSet && (write.verb === 'create' || write.verb === 'update'))
          this.judge(write);
      },
    });
  }

  override async sync(ref?: ObjectRef): Promise<void> {
    this.known = known(this.replicaSets);
    this.start = this.notedStart;
    await super.sync(ref);
  }

  private judge({ object, ref }: AttemptedWrite): void {
    const spec = this.countedSpec;
    if (!isRollingUpdate(spec) || isOfExperiment(object as ReplicaSet)) return;
    this.judged++;
    const before = this.replicaSets;
    const others = before.filter(({ metadata }) => metadata.name !== ref.name);
    const after = [...others, object as ReplicaSet];
    const [staying, floor] = [this.staying(after), minAvailable(spec) - this.lent];
    const least = Math.min(floor, this.known);
    // By what its ReplicaSet says, which a write does not change.
    const written = before.find(({ metadata }) => metadata.name === ref.name);
    const spared = known(others) + Math.min(written ? availableIn(written) : 0, sizeOf(object as ReplicaSet));
    if (staying < this.staying(before) && staying < least && spared < least)
      throw new IllegalStateError(
        `${ref.name}: ${staying} available pods stay, the floor is ${floor}, known were ${this.known}`,
      );
    const [total, ceiling] = [sum(after, sizeOf), maxTotalReplicas(spec)];
    if (total > ceiling && total > sum(before, sizeOf))
      throw new IllegalStateError(`${ref.name}: the sizes become ${total}, the ceiling is ${ceiling}`);
  }

  /** Under `autoscaling` the size counts that the Deployment had when its rollout began, or under `floor` a larger one. */
  private get countedSpec(): Deployment['spec'] {
    const { metadata, spec } = this.deployment;
    const mode = metadata.annotations?.['rollkeeper.dev/autoscaling'];
    const asked = spec.replicas ?? 1;
    const { start } = this;
    // Policies rest while the rollout is paused.
    if (mode === undefined || start === undefined || asked === 0 || spec.paused) return spec;
    return { ...spec, replicas: mode === 'hold' ? start : Math.max(start, asked) };
  }

  /** By the newest version: one that was given up before may have a note of its own still. */
  private get notedStart(): number | undefined {
    const noted = this.replicaSets.filter(
      ({ metadata }) => metadata.annotations?.[SIZE_AT_START] !== undefined,
    );
    const newest = noted.toSorted((a, b) => revisionOf(b) - revisionOf(a))[0];
    return newest && Number(newest.metadata.annotations?.[SIZE_AT_START]);
  }

  /** Under `surge: if-it-fits` one pod more may be missing while a new one finds no room. */
  private get lent(): number {
    const { annotations } = this.deployment.metadata;
    return annotations?.['rollkeeper.dev/surge'] === 'if-it-fits' ? 1 : 0;
  }

  private staying(replicaSets: readonly ReplicaSet[]): number {
    return sum(replicaSets, (replicaSet) => {
      if (replicaSet.metadata.uid === undefined) return 0;
      const { length } = this.podsOf(replicaSet).filter(
        (pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined,
      );
      return Math.min(length, sizeOf(replicaSet));
    });
  }
}

/** By a status that has observed the current spec. */
function availableIn({ metadata, status }: ReplicaSet): number {
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return isObserved ? (status?.availableReplicas ?? 0) : 0;
}

/** Pods that are available and stay, by what the ReplicaSets say. */
function known(replicaSets: readonly ReplicaSet[]): number {
  return sum(replicaSets, (replicaSet) => Math.min(availableIn(replicaSet), sizeOf(replicaSet)));
}

function sizeOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

function sum(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number): number {
  return replicaSets.reduce((total, replicaSet) => total + count(replicaSet), 0);
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);
}
