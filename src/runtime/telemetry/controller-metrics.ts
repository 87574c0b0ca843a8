import type { Meter } from '@opentelemetry/api';
import type { ControllerMetrics, ReconcileOutcomeLabel } from '../controller/index.js';
import { METRICS, RECONCILE_BUCKETS, REQUEST_BUCKETS } from './metric-names.js';
import type { EventEnd, EventRecorderMetrics } from '@rollkeeper/client/events';
import type { LeaderElectionMetrics } from '../leader-election/index.js';

const OUTCOMES: readonly ReconcileOutcomeLabel[] = [
  'success',
  'requeue_after',
  'error',
  'terminal_error',
  'put_off',
];

/** Reconcile metrics with controller-runtime's names, initialized to zero so that dashboards show them. */
export function createControllerMetrics(
  meter: Meter,
  workersOf: ReadonlyMap<string, number>,
): ControllerMetrics {
  const { errors, panics, replays, staleReads, timeouts, total, unqueued } = createSyncCounters(meter);
  const { abandoned, active } = createSyncGauges(meter, workersOf);
  const { caughtUp, time } = createSyncTimes(meter);
  for (const controller of workersOf.keys()) {
    for (const counter of [errors, panics, staleReads, replays, unqueued, timeouts])
      counter.add(0, { controller });
    for (const gauge of [active, abandoned]) gauge.add(0, { controller });
    for (const result of OUTCOMES) total.add(0, { controller, result });
  }
  return {
    reconciled(controller, result, seconds) {
      total.add(1, { controller, result });
      if (result === 'error' || result === 'terminal_error') errors.add(1, { controller });
      time.record(seconds, { controller });
    },
    caughtUp: (controller, seconds) => caughtUp.record(seconds, { controller }),
    activeWorkers: (controller, change) => active.add(change, { controller }),
    staleReadAvoided: (controller) => staleReads.add(1, { controller }),
    intentsReplayed: (controller) => replays.add(1, { controller }),
    panicked: (controller) => panics.add(1, { controller }),
    timedOut: (controller) => timeouts.add(1, { controller }),
    abandoned: (controller, change) => abandoned.add(change, { controller }),
    unqueued: (controller) => unqueued.add(1, { controller }),
  };
}

function createSyncCounters(meter: Meter) {
  const counter = (name: string, description: string) => meter.createCounter(name, { description });
  return {
    total: counter(METRICS.reconcileTotal, 'Syncs by controller and outcome'),
    errors: counter(METRICS.reconcileErrors, 'Syncs that failed, by controller'),
    panics: counter(METRICS.reconcilePanics, 'Syncs that failed because of a bug, by controller'),
    staleReads: counter(
      METRICS.staleReadsAvoided,
      'Syncs that did not decide from a cache that was behind: they waited, or came back later',
    ),
    replays: counter(
      METRICS.intentsReplayed,
      'Syncs that found intents of an earlier one, to be settled first',
    ),
    unqueued: counter(
      METRICS.unqueuedKeys,
      'Keys that had to be queued and were not, found by the sweep; expected 0',
    ),
    timeouts: counter(
      METRICS.reconcileTimeouts,
      'Syncs that exceeded their timeout and were cancelled, by controller',
    ),
  };
}

function createSyncGauges(meter: Meter, workersOf: ReadonlyMap<string, number>) {
  meter
    .createObservableGauge(METRICS.maxConcurrentReconciles, {
      description: 'Workers of this replica, by controller',
    })
    .addCallback((result) => {
      for (const [controller, workers] of workersOf) result.observe(workers, { controller });
    });
  return {
    active: meter.createUpDownCounter(METRICS.activeWorkers, {
      description: 'Workers at work, by controller',
    }),
    abandoned: meter.createUpDownCounter(METRICS.abandonedSyncs, {
      description:
        'Syncs that did not stop when they were cancelled and still run; their keys are released. Expected: 0',
    }),
  };
}

function createSyncTimes(meter: Meter) {
  const advice = { explicitBucketBoundaries: RECONCILE_BUCKETS };
  return {
    time: meter.createHistogram(METRICS.reconcileTime, {
      description: 'Length of a sync, by controller',
      advice,
    }),
    caughtUp: meter.createHistogram(METRICS.caughtUpWait, {
      description: 'Time that syncs waited for their caches to catch up',
      advice,
    }),
  };
}

/** One resource of a controller, and whether it can be read. */
export interface ResourceReadability {
  readonly controller: string;
  readonly resource: string;
  readonly isReadable: boolean;
}

/**
 * Reports the resources that cannot be read. Required resources are reported as zero, and so are those that could not
 * be read earlier: the meter would repeat its last value.
 */
export function observeReadability(meter: Meter, read: () => Iterable<ResourceReadability>): void {
  const known = new Map<string, ResourceReadability>();
  meter
    .createObservableGauge(METRICS.unreadableResources, {
      description: 'Resources that a controller of this replica cannot list or watch: 1, or 0 where it can',
    })
    .addCallback((result) => {
      for (const [key, once] of known) known.set(key, { ...once, isReadable: true });
      for (const now of read()) known.set(`${now.controller} ${now.resource}`, now);
      for (const { controller, isReadable, resource } of known.values())
        result.observe(isReadable ? 0 : 1, { controller, resource });
    });
}

const ENDS: readonly EventEnd[] = ['written', 'failed', 'dropped'];

/** Outcomes of Events, initialized to zero. */
export function createEventRecorderMetrics(meter: Meter): EventRecorderMetrics {
  const total = meter.createCounter(METRICS.events, {
    description: 'Writes of Events by what became of them',
  });
  for (const outcome of ENDS) total.add(0, { outcome });
  return { ended: (outcome) => total.add(1, { outcome }) };
}

/** Election metrics: client-go's `leader_election_master_status`, and our own attempts and transitions. */
export function createLeaderElectionMetrics(meter: Meter, lease: string): LeaderElectionMetrics {
  let leads = false;
  meter
    .createObservableGauge(METRICS.leaderStatus, { description: 'Whether this replica leads: 1 or 0' })
    .addCallback((result) => result.observe(leads ? 1 : 0, { name: lease }));
  const attempts = meter.createHistogram(METRICS.leaderAttemptDuration, {
    description: 'Seconds until an attempt to acquire or renew the lease was answered, by result',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  const transitions = meter.createCounter(METRICS.leaderTransitions, {
    description: 'Changes of the leader or of its epoch that this replica has seen',
  });
  const depositions = meter.createCounter(METRICS.leaderDepositions, {
    description: 'Leases that this replica took before they had run out, because their holder was gone',
  });
  for (const counter of [transitions, depositions]) counter.add(0, { name: lease });
  return {
    leading: (isLeading) => void (leads = isLeading),
    attempt: (result, durationMs) => attempts.record(durationMs / 1000, { name: lease, result }),
    transition: () => transitions.add(1, { name: lease }),
    deposed: () => depositions.add(1, { name: lease }),
  };
}
