import { METRICS, REQUEST_BUCKETS } from '@rollkeeper/runtime/telemetry';
import type { Meter } from '@opentelemetry/api';
import type { RolloutHealth } from '@rollkeeper/controllers/deployment';
import type { CheckResult } from './check-result-feed.js';
import type { SendResult } from '../insight/events/index.js';
import type { NotificationResult } from '../insight/notifications/index.js';
import type { LookResult, ProblemCount } from '../insight/problems/index.js';
import type { RolloutMetrics } from '../insight/durations/rollout-durations.js';

/** Number of Deployments per state; `undefined` reports nothing. */
export function observeDeployments(
  meter: Meter,
  counts: () => ReadonlyMap<RolloutHealth, number> | undefined,
): void {
  meter
    .createObservableGauge(METRICS.deployments, {
      description: 'Deployments by the state that their status tells',
    })
    .addCallback((result) => {
      for (const [state, count] of counts() ?? []) result.observe(count, { state });
    });
}

/** Number of Deployments by what their policies say; `undefined` reports nothing. */
export function observePolicies(meter: Meter, counts: () => ReadonlyMap<string, number> | undefined): void {
  meter
    .createObservableGauge(METRICS.rolloutPolicies, {
      description:
        'Deployments whose policies hold a rollout, went back, or cannot be followed, by the reason',
    })
    .addCallback((result) => {
      for (const [reason, count] of counts() ?? []) result.observe(count, { reason });
    });
}

/** Number of Deployments that are degraded by their own policy; `undefined` reports nothing. */
export function observeDegraded(meter: Meter, count: () => number | undefined): void {
  meter
    .createObservableGauge(METRICS.degradedDeployments, {
      description: 'Deployments that lost pods after their rollout, and did not get them back in time',
    })
    .addCallback((result) => {
      const degraded = count();
      if (degraded !== undefined) result.observe(degraded);
    });
}

/** Number of Deployments whose pods differ from what admission gives new ones; `undefined` reports nothing. */
export function observeDrifted(meter: Meter, count: () => number | undefined): void {
  meter
    .createObservableGauge(METRICS.driftedDeployments, {
      description: 'Deployments with pods that differ from what admission gives new ones',
    })
    .addCallback((result) => {
      const drifted = count();
      if (drifted !== undefined) result.observe(drifted);
    });
}

/** Number of ReplicaSets whose pods die before they are ready; `undefined` reports nothing. */
export function observeFailingReplicaSets(meter: Meter, count: () => number | undefined): void {
  meter
    .createObservableGauge(METRICS.failingReplicaSets, {
      description:
        'ReplicaSets whose pods die before they are ready, so that the next are created more and more slowly',
    })
    .addCallback((result) => {
      const failing = count();
      if (failing !== undefined) result.observe(failing);
    });
}

/** Seconds: from a rollout of one pod to one of an hour. */
const ROLLOUT_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];
/** Seconds spent by the controllers themselves. Includes the bounds of the objective (docs/RELIABILITY.md). */
const OVERHEAD_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

/** Durations of rollouts and our share of them, reported by the leader. */
export function createRolloutMetrics(meter: Meter): RolloutMetrics {
  const duration = meter.createHistogram(METRICS.rolloutDuration, {
    description: 'Seconds from the change of a Deployment until its rollout ended, by outcome',
    advice: { explicitBucketBoundaries: ROLLOUT_BUCKETS },
  });
  const advice = { explicitBucketBoundaries: OVERHEAD_BUCKETS };
  const firstWrite = meter.createHistogram(METRICS.rolloutFirstWrite, {
    description: 'Seconds from the change of a Deployment until the first write that answers it',
    advice,
  });
  const overhead = meter.createHistogram(METRICS.rolloutOverhead, {
    description: 'Seconds of a complete rollout in which none of its pods was on its way',
    advice,
  });
  return {
    firstWrite: (durationMs) => firstWrite.record(durationMs / 1000),
    ended: (outcome, durationMs) => duration.record(durationMs / 1000, { outcome }),
    overhead: (durationMs) => overhead.record(durationMs / 1000),
  };
}

/** Counts the results of rollouts' checks. */
export function createCheckMetrics(meter: Meter): (result: CheckResult) => void {
  const total = meter.createCounter(METRICS.rolloutChecks, {
    description: 'Measurements of checks of rollouts, by kind and result',
  });
  return ({ kind, verdict }) => total.add(1, { kind, result: verdict });
}

/** Counts the fate of CloudEvents about rollouts. */
export function createRolloutEventMetrics(meter: Meter): (result: SendResult) => void {
  const total = meter.createCounter(METRICS.rolloutEvents, {
    description: 'CloudEvents about rollouts, by what became of a try to send one',
  });
  return (result) => total.add(1, { result });
}

/** Counts the fate of notifications of rollouts. */
export function createNotificationMetrics(meter: Meter): (result: NotificationResult) => void {
  const total = meter.createCounter(METRICS.notifications, {
    description: 'Notifications of rollouts, by service and by what became of a try to send one',
  });
  return ({ result, service = '' }) => total.add(1, { service, result });
}

/** Problems by kind and cause, and how old the oldest is; `undefined` reports nothing. Where there are none, one series says so. */
export function observeProblems(meter: Meter, counts: () => readonly ProblemCount[] | undefined): void {
  const none: ProblemCount = { kind: '', cause: '', count: 0, oldestSeconds: 0 };
  const shown = (): readonly ProblemCount[] => {
    const all = counts();
    return all?.length === 0 ? [none] : (all ?? []);
  };
  const report = (name: string, description: string, valueOf: (count: ProblemCount) => number): void =>
    meter.createObservableGauge(name, { description }).addCallback((result) => {
      for (const count of shown()) result.observe(valueOf(count), { kind: count.kind, cause: count.cause });
    });
  report(METRICS.problems, 'Objects that something blocks, by kind and cause', ({ count }) => count);
  report(
    METRICS.oldestProblem,
    'Seconds since the oldest of these problems began, by kind and cause',
    ({ oldestSeconds }) => oldestSeconds,
  );
}

/** Measures the cost of looking for problems. */
export function createProblemMetrics(meter: Meter): (look: LookResult) => void {
  const looks = meter.createCounter(METRICS.problemLooks, {
    description: 'Looks for problems, by result',
  });
  const duration = meter.createHistogram(METRICS.problemLookDuration, {
    description: 'Seconds that a look for problems took',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  const reads = meter.createCounter(METRICS.problemReads, {
    description: 'Lists that looks for problems read, by where they came from',
  });
  for (const result of ['done', 'failed']) looks.add(0, { result });
  for (const source of ['api', 'cache']) reads.add(0, { source });
  return (look) => {
    looks.add(1, { result: look.result });
    duration.record(look.tookMs / 1000);
    if (look.result === 'failed') return;
    reads.add(look.reads.api, { source: 'api' });
    reads.add(look.reads.caches, { source: 'cache' });
  };
}
