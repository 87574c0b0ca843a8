import type { Deployment } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import { DecisionJudge } from './decided-sizes.js';
import { limitsOf, sizesOf } from './rollout-limits.js';
import type { StoreReplay } from './store-replay.js';
import { isAtRest, isLiving, isReadyPod } from './store-replay.js';
import type { Violation } from './violation.js';

/**
 * (c) At every revision: the sizes of a Deployment's ReplicaSets add up to no more than `spec.replicas` + maxSurge,
 * and no fewer than `spec.replicas` - maxUnavailable pods are ready. After the user has changed `spec.replicas` both
 * count from the first time that they hold and nothing decided before is still to come. Until then, and always, each size that
 * is written is judged by itself: see DecisionJudge. Call after the change was applied to the replay.
 */
export class LimitsChecker {
  /** The sizes that may count, by Deployment. */
  private readonly wanted = new Map<string, string>();
  private readonly settled = new Set<string>();
  private readonly judges = new Map<string, DecisionJudge>();
  checks = 0;

  constructor(private readonly replay: StoreReplay) {}

  check(event: HistoryEvent): Violation[] {
    const deployment = this.replay.deploymentOf(event);
    if (!deployment) {
      if (event.kind === 'Deployment') this.forget(event.object.metadata.uid ?? '');
      return [];
    }
    const { deletionTimestamp, name, uid = '' } = deployment.metadata;
    if (deletionTimestamp || deployment.spec.strategy?.type === 'Recreate') {
      // Earlier observations prove nothing about the time after this.
      this.forget(uid);
      return [];
    }
    this.noteScaling(uid, deployment);
    const problems = [...this.judge(uid).problemsOf(event, deployment), ...this.problemsAtRest(deployment)];
    this.checks += 1;
    const at = `(revision ${event.resourceVersion})`;
    return problems.map((problem) => ({ check: 'limits', subject: name, problem: `${problem} ${at}` }));
  }

  private judge(uid: string): DecisionJudge {
    const judge = this.judges.get(uid) ?? new DecisionJudge(this.replay);
    this.judges.set(uid, judge);
    return judge;
  }

  private problemsAtRest(deployment: Deployment): string[] {
    const { uid = '' } = deployment.metadata;
    const problems = this.problemsOf(deployment);
    if (this.settled.has(uid)) return problems;
    if (problems.length === 0 && this.isAtRest(deployment)) this.settled.add(uid);
    return [];
  }

  private problemsOf(deployment: Deployment): string[] {
    const owned = this.replay.replicaSetsOf(deployment.metadata.uid ?? '');
    const { ceiling, floor } = limitsOf(deployment, owned);
    const size = owned.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
    const pods = owned.flatMap(({ metadata }) => this.replay.podsOf(metadata.uid ?? ''));
    const ready = pods.filter(isReadyPod).length;
    const problems: string[] = [];
    if (size > ceiling) problems.push(`sizes add up to ${size}, the limit is ${ceiling}`);
    if (ready < floor) problems.push(`${ready} pods are ready, the limit is ${floor}`);
    return problems;
  }

  private isAtRest({ metadata, status }: Deployment): boolean {
    const { generation, uid = '' } = metadata;
    if (status?.observedGeneration !== generation) return false;
    return this.replay
      .replicaSetsOf(uid)
      .every((replicaSet) =>
        isAtRest(replicaSet, this.replay.podsOf(replicaSet.metadata.uid ?? '').filter(isLiving).length),
      );
  }

  private noteScaling(uid: string, deployment: Deployment): void {
    const sizes = sizesOf(deployment, this.replay.replicaSetsOf(uid)).join();
    if (this.wanted.get(uid) === sizes) return;
    this.wanted.set(uid, sizes);
    this.settled.delete(uid);
  }

  private forget(uid: string): void {
    this.wanted.delete(uid);
    this.settled.delete(uid);
    this.judges.delete(uid);
  }
}
