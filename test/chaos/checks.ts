import { ActivationsChecker } from './checkers/activations.js';
import type { KnownMesh } from './checkers/admission.js';
import { AdmissionChecker } from './checkers/admission.js';
import { findLostChanges } from './checkers/changes.js';
import { DrainingChecker } from './checkers/draining.js';
import type { TermLine } from './checkers/epochs.js';
import { EpochsChecker } from './checkers/epochs.js';
import { ExperimentsChecker } from './checkers/experiments.js';
import { HeldSizesChecker } from './checkers/held-sizes.js';
import { LeaseFenceChecker, isOfLedger } from './checkers/lease-fence.js';
import { LimitsChecker } from './checkers/limits.js';
import { OrderChecker } from './checkers/order.js';
import { PoliciesChecker } from './checkers/policies.js';
import { PodNamesChecker } from './checkers/pod-names.js';
import { PodsOfReplicaSetChecker } from './checkers/pods-of-replicaset.js';
import { SchedulingChecker } from './checkers/scheduling.js';
import { TrafficChecker } from './checkers/traffic.js';
import { StoreReplay } from './checkers/store-replay.js';
import type { Node } from '../../src/machinery/kubernetes/index.js';
import type { JournalLine } from './checkers/journal-line.js';
import type { Violation } from './checkers/violation.js';
import type { HistoryEvent } from './history.js';
import { saysItIsEmpty } from './lifetimes.js';
import type { AcknowledgedChange } from './acknowledged-changes.js';
import type { ChaosCoordination } from './set/chaos-set.js';

export interface ChecksOptions {
  readonly redisLosesWrites: boolean;
  /** With `leases` there are no queues in Redis whose terms could be judged. @default 'redis' */
  readonly coordination?: ChaosCoordination;
  /** With slots, keys wait in the memory of their slots' owners, and no queue in Redis judges who adds them. @default 0 */
  readonly slots?: number;
}

/** All checks that read what was recorded, fed round by round. */
export class Checks {
  private readonly replay = new StoreReplay();
  private readonly limits = new LimitsChecker(this.replay);
  private readonly pods = new PodsOfReplicaSetChecker(this.replay);
  private readonly names = new PodNamesChecker();
  private readonly policies = new PoliciesChecker(this.replay);
  private readonly experiments = new ExperimentsChecker(this.replay);
  private readonly order = new OrderChecker(this.replay);
  private readonly heldSizes = new HeldSizesChecker(this.replay);
  private readonly traffic = new TrafficChecker(this.replay);
  private readonly draining = new DrainingChecker(this.replay, { isEmpty: saysItIsEmpty });
  private readonly admission = new AdmissionChecker(this.replay);
  private readonly activations = new ActivationsChecker();
  private readonly epochs = new EpochsChecker();
  private readonly fence = new LeaseFenceChecker();
  private readonly scheduling = new SchedulingChecker();
  private changes = 0;

  /**
   * @param options where Redis loses writes, an epoch may come twice and the notes of the epochs may go with it, so that nothing can be
   *   said about them (docs/REDIS.md); everything else holds there too
   */
  constructor(private readonly options: ChecksOptions = { redisLosesWrites: false }) {}

  /** The nodes whose capacity bindings are judged by. */
  know(nodes: readonly Node[]): void {
    this.scheduling.know(nodes);
  }

  /**
   * @param history in the store's order
   * @param journal in the order of its times
   * @param terms in the order of each queue, read after the journal
   * @param meshes in the order of their times. @default admission gives what it gave before
   */
  checkRecorded(
    history: readonly HistoryEvent[],
    journal: readonly JournalLine[],
    terms: readonly TermLine[],
    meshes: readonly KnownMesh[] = [],
  ): Violation[] {
    const found: Violation[] = [];
    const unknown = [...meshes];
    for (const event of history) {
      for (; unknown[0] && unknown[0].sinceMs <= event.seenAtMs; unknown.shift())
        this.admission.know(unknown[0].mesh, unknown[0].sinceMs);
      if (isOfRequests(event)) {
        found.push(...this.traffic.check(event), ...this.draining.check(event));
        continue;
      }
      found.push(
        ...this.policies.check(event),
        ...this.experiments.check(event),
        ...this.order.check(event),
        ...this.heldSizes.check(event),
        ...this.draining.check(event),
        ...this.admission.check(event),
      );
      this.replay.apply(event);
      found.push(
        ...this.traffic.check(event),
        ...this.limits.check(event),
        ...this.pods.check(event),
        ...this.names.check(event),
        ...this.scheduling.check(event),
      );
    }
    const { coordination, slots = 0 } = this.options;
    const leaders = coordination === 'leases' || slots > 0 ? journal.filter(isOfLeadership) : journal;
    const epochs = this.options.redisLosesWrites ? [] : this.epochs.check(leaders, terms);
    const ofKeys = journal.filter((line) => !isOfLedger(line));
    return [...found, ...this.activations.check(ofKeys), ...epochs, ...this.fence.check(journal)];
  }

  /** Once everything is at rest. */
  checkAtRest(last: Iterable<AcknowledgedChange>): Violation[] {
    const changes = [...last];
    this.changes += changes.length;
    return findLostChanges(changes, this.replay);
  }

  counts(): Record<string, number> {
    const ofLeaders: Record<string, number> =
      this.options.coordination === 'leases'
        ? { epochs: this.fence.terms, 'lease fence': this.fence.writes }
        : { epochs: this.epochs.adds, 'refused adds of former leaders': this.epochs.refused };
    return {
      activations: this.activations.activations,
      ...ofLeaders,
      limits: this.limits.checks,
      policies: this.policies.checks,
      experiments: this.experiments.checks,
      'old pods that drain': this.draining.checks,
      'restarts on admission': this.admission.checks,
      order: this.order.checks,
      'held sizes': this.heldSizes.checks,
      'routes of rollouts': this.traffic.checks,
      'pods of a ReplicaSet': this.pods.checks,
      'pod names': this.names.checks,
      bindings: this.scheduling.bindings,
      'acknowledged changes': this.changes,
    };
  }
}

/** Changes of what decides where requests go, which the replay does not have. */
const isOfRequests = ({ kind }: HistoryEvent): boolean =>
  kind === 'Service' || kind === 'HTTPRoute' || kind === 'EndpointSlice';

/** Lines about leaders that can be judged without a queue in Redis. */
const isOfLeadership = ({ e }: JournalLine): boolean => e === 'lead';
