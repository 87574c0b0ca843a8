import type { ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import type { StoreReplay } from './store-replay.js';
import { isAtRest, isLiving, ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

/**
 * (d) No ReplicaSet ever owns more living pods than the largest `spec.replicas` it had since it was at rest. Call after the change was applied to the replay.
 */
export class PodsOfReplicaSetChecker {
  private readonly largest = new Map<string, number>();
  checks = 0;

  constructor(private readonly replay: StoreReplay) {}

  check(event: HistoryEvent): Violation[] {
    const replicaSet = this.replicaSetOf(event);
    if (!replicaSet) {
      if (event.kind === 'ReplicaSet') this.largest.delete(event.object.metadata.uid ?? '');
      return [];
    }
    this.checks += 1;
    const { name, uid = '' } = replicaSet.metadata;
    const wanted = replicaSet.spec.replicas ?? 1;
    const living = this.replay.podsOf(uid).filter(isLiving).length;
    const isResting = isAtRest(replicaSet, living);
    const largest = isResting ? wanted : Math.max(wanted, this.largest.get(uid) ?? 0);
    this.largest.set(uid, largest);
    if (living <= largest) return [];
    const problem = `${living} living pods, it never wanted more than ${largest} (revision ${event.resourceVersion})`;
    return [{ check: 'pods of a ReplicaSet', subject: name, problem }];
  }

  private replicaSetOf({ kind, object }: HistoryEvent): ReplicaSet | undefined {
    if (kind === 'ReplicaSet') return this.replay.replicaSets.get(object.metadata.uid ?? '');
    return kind === 'Pod' ? this.replay.replicaSets.get(ownerOf(object) ?? '') : undefined;
  }
}
