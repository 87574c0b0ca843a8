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
}

/** What an API client tells of its requests. */
export interface ApiClientMetrics {
  request(request: ApiClientRequest): void;
}

/** Counts nothing. */
export const noApiClientMetrics: ApiClientMetrics = { request: () => undefined };
