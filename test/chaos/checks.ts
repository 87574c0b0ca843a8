import { ActivationsChecker } from './checkers/activations.js';
import { findLostChanges } from './checkers/changes.js';
import type { TermLine } from './checkers/epochs.js';
import { EpochsChecker } from './checkers/epochs.js';
import { LimitsChecker } from './checkers/limits.js';
import { PoliciesChecker } from './checkers/policies.js';
import { PodsOfReplicaSetChecker } from './checkers/pods-of-replicaset.js';
import { SchedulingChecker } from './checkers/scheduling.js';
import { StoreReplay } from './checkers/store-replay.js';
import type { Node } from '../../src/machinery/kubernetes/index.js';
import type { JournalLine } from './checkers/journal-line.js';
import type { Violation } from './checkers/violation.js';
import type { HistoryEvent } from './history.js';
import type { AcknowledgedChange } from './load.js';

/** All checks that read what was recorded, fed round by round. */
export class Checks {
  private readonly replay = new StoreReplay();
  private readonly limits = new LimitsChecker(this.replay);
  private readonly pods = new PodsOfReplicaSetChecker(this.replay);
  private readonly policies = new PoliciesChecker(this.replay);
  private readonly activations = new ActivationsChecker();
  private readonly epochs = new EpochsChecker();
  private readonly scheduling = new SchedulingChecker();
  private changes = 0;

  /**
   * @param options where Redis loses writes, an epoch may come twice and the notes of the epochs may go with it, so that nothing can be
   *   said about them (docs/REDIS.md); everything else holds there too
   */
  constructor(
    private readonly options: { readonly redisLosesWrites: boolean } = { redisLosesWrites: false },
  ) {}

  /** The nodes whose capacity bindings are judged by. */
  know(nodes: readonly Node[]): void {
    this.scheduling.know(nodes);
  }

  /**
   * @param history in the store's order
   * @param journal in the order of its times
   * @param terms in the order of each queue, read after the journal
   */
  checkRecorded(
    history: readonly HistoryEvent[],
    journal: readonly JournalLine[],
    terms: readonly TermLine[],
  ): Violation[] {
    const found: Violation[] = [];
    for (const event of history) {
      found.push(...this.policies.check(event));
      this.replay.apply(event);
      found.push(...this.limits.check(event), ...this.pods.check(event), ...this.scheduling.check(event));
    }
    const epochs = this.options.redisLosesWrites ? [] : this.epochs.check(journal, terms);
    return [...found, ...this.activations.check(journal), ...epochs];
  }

  /** Once everything is at rest. */
  checkAtRest(last: Iterable<AcknowledgedChange>): Violation[] {
    const changes = [...last];
    this.changes += changes.length;
    return findLostChanges(changes, this.replay);
  }

  counts(): Record<string, number> {
    return {
      activations: this.activations.activations,
      epochs: this.epochs.adds,
      'refused adds of former leaders': this.epochs.refused,
      limits: this.limits.checks,
      policies: this.policies.checks,
      'pods of a ReplicaSet': this.pods.checks,
      bindings: this.scheduling.bindings,
      'acknowledged changes': this.changes,
    };
  }
}
