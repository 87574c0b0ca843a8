import type { Meter } from '@opentelemetry/api';
import type { ApiClientMetrics } from '@rollkeeper/client/api-client';
import { METRICS, REQUEST_BUCKETS } from './metric-names.js';

const VERBS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** client-go's `rest_client_*` metrics for the controllers' own requests. */
export function createApiClientMetrics(meter: Meter): ApiClientMetrics {
  const total = meter.createCounter(METRICS.restClientRequests, {
    description: 'Requests to the API server, by status code, method and host',
  });
  const duration = meter.createHistogram(METRICS.restClientDuration, {
    description: 'Seconds until the API server answered a request, by method (as verb) and host',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  const retries = meter.createCounter(METRICS.restClientRetries, {
    description:
      'Requests that were tried again, by the reason (a status code, or <error>) and method (as verb)',
  });
  const retryAfter = meter.createCounter(METRICS.restClientRetryAfter, {
    description: 'Seconds that the API server asked us to wait before retries, by method (as verb)',
  });
  for (const verb of VERBS) {
    for (const code of ['429', '503', '<error>']) retries.add(0, { code, verb });
    retryAfter.add(0, { verb });
  }
  const limited = meter.createHistogram(METRICS.restClientRateLimiter, {
    description: 'Seconds that requests waited for --kube-api-qps, by verb',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  const fairness = meter.createCounter(METRICS.restClientFairness, {
    description:
      'Requests by the flow schema and the priority level that the API server put them under (UIDs), and status code',
  });
  return {
    request({ code, durationMs, flowSchema, host, method, priorityLevel }) {
      total.add(1, { code, method, host });
      duration.record(durationMs / 1000, { verb: method, host });
      if (flowSchema !== undefined && priorityLevel !== undefined)
        fairness.add(1, { flow_schema: flowSchema, priority_level: priorityLevel, code });
    },
    retry({ code, method, retryAfterMs = 0 }) {
      retries.add(1, { code, verb: method });
      retryAfter.add(retryAfterMs / 1000, { verb: method });
    },
    limited({ verb, waitedMs }) {
      limited.record(waitedMs / 1000, { verb });
    },
  };
}
