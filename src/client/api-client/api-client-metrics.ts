/** One attempt of a request, as counted by client-go's `rest_client_*` metrics. */
export interface ApiClientRequest {
  /** `GET`, `POST`, … */
  readonly method: string;
  /** The status, or `<error>` without an answer. */
  readonly code: string;
  /** `host:port` of the API server. */
  readonly host: string;
  /** Until the response headers arrived. */
  readonly durationMs: number;
  /** UIDs of the flow schema and the priority level that the server assigned, if it has priority and fairness. */
  readonly flowSchema?: string;
  readonly priorityLevel?: string;
}

/** A retried request. */
export interface ApiClientRetry extends Pick<ApiClientRequest, 'method' | 'code'> {
  /** Retry-After of the server, milliseconds. */
  readonly retryAfterMs?: number;
}

/** Metrics of an API client's requests. */
export interface ApiClientMetrics {
  request(request: ApiClientRequest): void;
  retry(retry: ApiClientRetry): void;
  /** A request was delayed by our own rate limit (`--kube-api-qps`). */
  limited(request: { readonly verb: string; readonly waitedMs: number }): void;
}

/** Records nothing. */
export const noApiClientMetrics: ApiClientMetrics = {
  request: () => undefined,
  retry: () => undefined,
  limited: () => undefined,
};
