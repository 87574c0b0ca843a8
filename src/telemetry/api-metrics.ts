import type { Meter } from '@opentelemetry/api';
import type { ApiClientMetrics } from '../api-client/index.js';
import { METRICS, REQUEST_BUCKETS } from './metric-names.js';

/** client-go's `rest_client_*`, by the controllers' own requests. */
export function createApiClientMetrics(meter: Meter): ApiClientMetrics {
  const total = meter.createCounter(METRICS.restClientRequests, {
    description: 'Requests to the API server, by status code, method and host',
  });
  const duration = meter.createHistogram(METRICS.restClientDuration, {
    description: 'Seconds until the API server answered a request, by method (as verb) and host',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  return {
    request({ code, durationMs, host, method }) {
      total.add(1, { code, method, host });
      duration.record(durationMs / 1000, { verb: method, host });
    },
  };
}
