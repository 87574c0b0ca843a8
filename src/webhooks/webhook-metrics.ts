import type { Meter } from '@opentelemetry/api';

/** Metrics of a webhook server; the first three are controller-runtime's. */
export interface WebhookMetrics {
  begun(webhook: string): void;
  ended(webhook: string, code: number, durationMs: number): void;
  /** Milliseconds since 1970. */
  certificateExpires(atMs: number): void;
}

/** Webhooks answer within milliseconds, and have 10 seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createWebhookMetrics(meter: Meter): WebhookMetrics {
  const requests = meter.createCounter('controller_runtime_webhook_requests_total', {
    description: 'Requests to webhooks, by path and HTTP code',
  });
  const latency = meter.createHistogram('controller_runtime_webhook_latency_seconds', {
    description: 'Time to answer a request to a webhook, by path',
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const inFlight = meter.createUpDownCounter('controller_runtime_webhook_requests_in_flight', {
    description: 'Requests to webhooks under way, by path',
  });
  let expiresAtMs: number | undefined;
  meter
    .createObservableGauge('rollkeeper_webhook_certificate_expiry_timestamp_seconds', {
      description: 'When the certificate of the webhooks expires, seconds since 1970',
    })
    .addCallback((result) => {
      if (expiresAtMs !== undefined) result.observe(expiresAtMs / 1000);
    });
  return {
    begun: (webhook) => inFlight.add(1, { webhook }),
    ended: (webhook, code, durationMs) => {
      inFlight.add(-1, { webhook });
      requests.add(1, { webhook, code: String(code) });
      latency.record(durationMs / 1000, { webhook });
    },
    certificateExpires: (atMs) => (expiresAtMs = atMs),
  };
}
