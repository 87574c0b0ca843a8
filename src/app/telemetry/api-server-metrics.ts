import type { ApiServerMetrics, ServedRequest } from '../../api-server/index.js';
import type { Metrics } from '../../kit/telemetry/index.js';
import { METRICS, REQUEST_BUCKETS } from '../../kit/telemetry/index.js';

/** kube-apiserver's names for the same things, and the store's in ours: there is no etcd here. */
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
    serialize: () => metrics.serialize(),
  };
}

function labelsOf({ group, resource, scope, subresource, verb, version }: ServedRequest) {
  return { verb, group, version, resource, subresource, scope, component: 'apiserver' };
}
