import type { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import { noteOfStart } from './rollout-limits.js';
import type { StoreReplay } from './store-replay.js';
import { ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const REVISION = 'deployment.kubernetes.io/revision';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';

/**
 * (k) Of Deployments with `autoscaling`: while a rollout is under way, a ReplicaSet is given a part of the size at which it began, or under
 * `floor` of a larger one. Call before the change is applied to the replay.
 */
export class HeldSizesChecker {
  checks = 0;

  constructor(private readonly replay: StoreReplay) {}

  check({ deleted, kind, object, resourceVersion }: HistoryEvent): Violation[] {
    if (kind !== 'ReplicaSet' || deleted) return [];
    const written = object as ReplicaSet;
    const deployment = this.replay.deployments.get(ownerOf(written) ?? '');
    const before = this.replay.replicaSets.get(written.metadata.uid ?? '');
    if (!deployment || !before || !isJudged(deployment)) return [];
    const atStart = this.sizeAtStart(deployment, written);
    if (atStart === undefined) return [];
    // With any other size, one that is not held could not be told from one that is.
    if (deployment.spec.replicas !== atStart) this.checks += 1;
    if (desiredOf(written) === desiredOf(before)) return [];
    const isFloor = deployment.metadata.annotations?.[`${P}autoscaling`] === 'floor';
    const desired = desiredOf(written);
    if (isFloor ? desired >= atStart : desired === atStart) return [];
    const problem = `${written.metadata.name} became a part of ${desired} pods in a rollout that began with ${atStart} (revision ${resourceVersion})`;
    return [{ check: 'held sizes', subject: deployment.metadata.name, problem }];
  }

  /** The noted size of the newest version, while another one has pods; undefined while no rollout is under way. */
  private sizeAtStart({ metadata }: Deployment, written: ReplicaSet): number | undefined {
    const others = this.replay
      .replicaSetsOf(metadata.uid ?? '')
      .filter((set) => set.metadata.uid !== written.metadata.uid);
    const sets = [...others, written].toSorted((one, other) => revisionOf(other) - revisionOf(one));
    const [newest, ...older] = sets;
    return newest && older.some(({ spec }) => (spec.replicas ?? 1) > 0) ? noteOfStart(newest) : undefined;
  }
}

/** A size of 0 always counts, and a pause ends the hold. The controller has seen the newest spec. */
function isJudged({ metadata, spec, status }: Deployment): boolean {
  const isObserved = status?.observedGeneration === metadata.generation;
  return (
    isObserved &&
    !spec.paused &&
    spec.replicas !== 0 &&
    metadata.annotations?.[`${P}autoscaling`] !== undefined
  );
}

function desiredOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[DESIRED]);
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}
