/** The target of a request, in the terms of kube-apiserver's metrics; empty if it was not about a resource. */
export interface ServedRequest {
  /** `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `DELETE`, `DELETECOLLECTION`. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: 'resource' | 'namespace' | 'cluster' | '';
}

/** Metrics of an API server. */
export interface ApiServerMetrics {
  /** A request was answered; a watch when it ended. */
  served(request: ServedRequest, code: number, durationMs: number): void;
  /** A request, or a watch, begins or ends. */
  inFlight(kind: 'mutating' | 'readOnly' | 'watch', change: 1 | -1): void;
  /** A request was refused or terminated to protect others. */
  terminated(request: ServedRequest, code: number): void;
  /** It was found out, or not, on whose behalf a request is made. */
  authenticated(outcome: 'success' | 'failure', username: string, durationMs: number): void;
  /** It was decided whether a request is allowed. */
  authorized(decision: 'allowed' | 'denied', durationMs: number): void;
  /** The body of a request was received. */
  received(request: ServedRequest, bytes: number): void;
  /** A request was about a version that will go. */
  deprecated(request: ServedRequest): void;
  stored(operation: string, resource: string, outcome: 'ok' | 'error', durationMs: number): void;
  /** Number of unreadable stored objects of a resource (qualified). */
  unreadable(resource: string, count: number): void;
  /** Prometheus' text. */
  serialize(): Promise<string>;
}

/** Records nothing. */
export const noApiServerMetrics: ApiServerMetrics = {
  served: () => undefined,
  inFlight: () => undefined,
  terminated: () => undefined,
  authenticated: () => undefined,
  authorized: () => undefined,
  received: () => undefined,
  deprecated: () => undefined,
  stored: () => undefined,
  unreadable: () => undefined,
  serialize: () => Promise.resolve(''),
};
