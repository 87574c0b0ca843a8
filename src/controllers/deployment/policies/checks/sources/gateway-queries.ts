/** The requests that are measured: those that a gateway has sent to one Service. */
export interface MeasuredRequests {
  readonly namespace: string;
  readonly service: string;
  /** The cluster that Envoy Gateway has for the backend. */
  readonly cluster: string;
  /** The time that a rate is taken over, as PromQL writes it. */
  readonly window: string;
}

/** The metrics of an implementation of the Gateway API, as PromQL. */
interface Metrics {
  /** The counter of answers. */
  readonly answers: string;
  /** The buckets of the time until an answer. */
  readonly durations: string;
  /** The length of a unit of the buckets, milliseconds. */
  readonly unitMs: number;
  readonly selector: (requests: MeasuredRequests) => string;
  /** Besides the selector: the answers that are a success. */
  readonly success: string;
}

/**
 * By the word in a definition. Answers of the server's fault (5xx) are failures, and so is a request that Linkerd could not send.
 *
 * - Istio: https://istio.io/latest/docs/reference/config/metrics/. The gateway reports as the source.
 * - Linkerd: https://linkerd.io/2/reference/proxy-metrics/, of the proxy that sends the request.
 * - Traefik: https://doc.traefik.io/traefik/observability/metrics/overview/. Its provider names a service NAMESPACE-SERVICE-PORT,
 *   of later versions with a word for the protocol before the port.
 * - Envoy Gateway: https://gateway.envoyproxy.io/docs/tasks/observability/proxy-metric/, and
 *   https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats. It has one cluster for each backend
 *   of a rule only where one of them has a filter (https://github.com/envoyproxy/gateway/issues/7008).
 */
const METRICS = {
  istio: {
    answers: 'istio_requests_total',
    durations: 'istio_request_duration_milliseconds_bucket',
    unitMs: 1,
    selector: ({ namespace, service }) =>
      `reporter="source",destination_service_namespace="${namespace}",destination_service_name="${service}"`,
    success: 'response_code!~"5.*"',
  },
  linkerd: {
    answers: 'outbound_http_route_backend_response_statuses_total',
    durations: 'outbound_http_route_backend_response_duration_seconds_bucket',
    unitMs: 1000,
    selector: ({ namespace, service }) => `backend_namespace="${namespace}",backend_name="${service}"`,
    success: 'http_status!~"5.*",error=""',
  },
  traefik: {
    answers: 'traefik_service_requests_total',
    durations: 'traefik_service_request_duration_seconds_bucket',
    unitMs: 1000,
    selector: ({ namespace, service }) =>
      `service=~"${`${namespace}-${service}`.replaceAll('.', '-')}(-https?)?-[0-9]+@kubernetesgateway"`,
    success: 'code!~"5.*"',
  },
  'envoy-gateway': {
    answers: 'envoy_cluster_upstream_rq_xx',
    durations: 'envoy_cluster_upstream_rq_time_bucket',
    unitMs: 1,
    selector: ({ cluster }) => `envoy_cluster_name="${cluster}"`,
    success: 'envoy_response_code_class!="5"',
  },
} as const satisfies Record<string, Metrics>;

export type Implementation = keyof typeof METRICS;

export const IMPLEMENTATIONS = Object.keys(METRICS) as [Implementation, ...Implementation[]];

/** The part of the requests that were a success, 0 to 1. */
export function successRate(implementation: Implementation, requests: MeasuredRequests): string {
  const { answers, selector, success } = METRICS[implementation];
  const selected = selector(requests);
  const rate = (labels: string): string => `sum(rate(${answers}{${labels}}[${requests.window}]))`;
  return `${rate(`${selected},${success}`)} / ${rate(selected)}`;
}

/** The time that this part of the requests (0 to 1) took at most, milliseconds. */
export function latency(
  implementation: Implementation,
  requests: MeasuredRequests,
  quantile: number,
): string {
  const { durations, selector, unitMs }: Metrics = METRICS[implementation];
  const buckets = `sum by (le) (rate(${durations}{${selector(requests)}}[${requests.window}]))`;
  const value = `histogram_quantile(${quantile}, ${buckets})`;
  return unitMs === 1 ? value : `${unitMs} * ${value}`;
}
