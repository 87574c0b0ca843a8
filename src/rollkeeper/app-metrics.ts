import type { ApiServerMetrics, ServedRequest } from '@rollkeeper/apiserver';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { METRICS, REQUEST_BUCKETS } from '@rollkeeper/runtime/telemetry';
import type { Meter } from '@opentelemetry/api';
import type { DeploymentState } from './deployment-states/deployment-states.js';
import type { CheckResult } from './replica/check-result-feed.js';
import type { SendResult } from './rollout-events/index.js';
import type { RolloutMetrics } from './rollout-durations/rollout-durations.js';

/** kube-apiserver's names for the same metrics, and our own for the store: there is no etcd here. */
export function createApiServerMetrics(metrics: Metrics): ApiServerMetrics {
  const { meter } = metrics;
  const advice = { explicitBucketBoundaries: REQUEST_BUCKETS };
  const total = meter.createCounter(METRICS.apiserverRequests, {
    description: 'Requests served, by verb, resource and status code',
  });
  const duration = meter.createHistogram(METRICS.apiserverDuration, {
    description: 'Seconds until a request was answered, watches left out',
    advice,
  });
  const inFlight = meter.createUpDownCounter(METRICS.apiserverInFlight, {
    description: 'Requests being served, watches left out',
  });
  const watches = meter.createUpDownCounter(METRICS.apiserverWatches, {
    description: 'Watches being served',
  });
  const terminations = meter.createCounter(METRICS.apiserverTerminations, {
    description: 'Requests that were refused or ended early so that others are served',
  });
  const terminatedWatchers = meter.createCounter(METRICS.apiserverTerminatedWatchers, {
    description: 'Watches that were ended because their client did not read',
  });
  const storage = meter.createHistogram(METRICS.storageDuration, {
    description: 'Seconds that an operation of the store took, by operation, resource and outcome',
    advice,
  });
  const unreadable = meter.createGauge(METRICS.storageUnreadable, {
    description:
      'Objects in the store that cannot be understood and count as absent, by resource; the log names them',
  });
  for (const kind of ['mutating', 'readOnly']) inFlight.add(0, { request_kind: kind });
  watches.add(0, { verb: 'WATCH' });
  return {
    served(request, code, durationMs) {
      const { verb } = request;
      const labels = labelsOf(request);
      total.add(1, { ...labels, code: String(code) });
      if (verb !== 'WATCH') duration.record(durationMs / 1000, labels);
    },
    inFlight: (kind, change) =>
      kind === 'watch'
        ? watches.add(change, { verb: 'WATCH' })
        : inFlight.add(change, { request_kind: kind }),
    terminated(request, code) {
      const { group, resource, verb } = request;
      terminations.add(1, { ...labelsOf(request), code: String(code) });
      if (verb === 'WATCH' && code === 200) terminatedWatchers.add(1, { group, resource });
    },
    stored: (operation, resource, outcome, durationMs) =>
      storage.record(durationMs / 1000, { operation, resource, outcome }),
    unreadable: (resource, count) => unreadable.record(count, { resource }),
    serialize: () => metrics.serialize(),
  };
}

function labelsOf({ group, resource, scope, subresource, verb, version }: ServedRequest) {
  return { verb, group, version, resource, subresource, scope, component: 'apiserver' };
}

/** Number of Deployments per state; `undefined` reports nothing. */
export function observeDeployments(
  meter: Meter,
  counts: () => ReadonlyMap<DeploymentState, number> | undefined,
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

/** What the checks of rollouts come to. */
export function createCheckMetrics(meter: Meter): (result: CheckResult) => void {
  const total = meter.createCounter(METRICS.rolloutChecks, {
    description: 'Measurements of checks of rollouts, by kind and result',
  });
  return ({ kind, verdict }) => total.add(1, { kind, result: verdict });
}

/** What becomes of CloudEvents about rollouts. */
export function createRolloutEventMetrics(meter: Meter): (result: SendResult) => void {
  const total = meter.createCounter(METRICS.rolloutEvents, {
    description: 'CloudEvents about rollouts, by what became of a try to send one',
  });
  return (result) => total.add(1, { result });
}
