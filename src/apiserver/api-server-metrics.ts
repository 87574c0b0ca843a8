/** What a request was about, in the terms of kube-apiserver's metrics; empty where it was about no resource. */
export interface ServedRequest {
  /** `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `DELETE`, `DELETECOLLECTION`. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: 'resource' | 'namespace' | 'cluster' | '';
}

/** What an API server tells of itself. */
export interface ApiServerMetrics {
  /** A request was answered; a watch when it ended. */
  served(request: ServedRequest, code: number, durationMs: number): void;
  /** A request, or a watch, begins or ends. */
  inFlight(kind: 'mutating' | 'readOnly' | 'watch', change: 1 | -1): void;
  /** A request was refused, or ended before its end, so that others are served. */
  terminated(request: ServedRequest, code: number): void;
  stored(operation: string, resource: string, outcome: 'ok' | 'error', durationMs: number): void;
  /** So many objects of a resource (qualified) in the store cannot be understood. */
  unreadable(resource: string, count: number): void;
  /** Prometheus' text. */
  serialize(): Promise<string>;
}

/** Counts nothing, and has nothing to show. */
export const noApiServerMetrics: ApiServerMetrics = {
  served: () => undefined,
  inFlight: () => undefined,
  terminated: () => undefined,
  stored: () => undefined,
  unreadable: () => undefined,
  serialize: () => Promise.resolve(''),
};
