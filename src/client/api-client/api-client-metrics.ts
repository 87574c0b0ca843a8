/** One attempt of a request, as client-go's `rest_client_*` metrics see it. */
export interface ApiClientRequest {
  /** `GET`, `POST`, … */
  readonly method: string;
  /** The status, or `<error>` where no answer came. */
  readonly code: string;
  /** `host:port` of the API server. */
  readonly host: string;
  /** Until the head of the answer was there. */
  readonly durationMs: number;
  /** UIDs of the flow schema and the priority level that the server put the request under, where it does such a thing. */
  readonly flowSchema?: string;
  readonly priorityLevel?: string;
}

/** A request that is tried again. */
export interface ApiClientRetry extends Pick<ApiClientRequest, 'method' | 'code'> {
  /** How long the server asked us to wait, milliseconds. */
  readonly retryAfterMs?: number;
}

/** What an API client tells of its requests. */
export interface ApiClientMetrics {
  request(request: ApiClientRequest): void;
  retry(retry: ApiClientRetry): void;
  /** A request that waited for a limit of our own (`--kube-api-qps`). */
  limited(request: { readonly verb: string; readonly waitedMs: number }): void;
}

/** Counts nothing. */
export const noApiClientMetrics: ApiClientMetrics = {
  request: () => undefined,
  retry: () => undefined,
  limited: () => undefined,
};
