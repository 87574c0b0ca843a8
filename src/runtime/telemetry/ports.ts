import type { Meter, Tracer } from '@opentelemetry/api';

/** The process's metrics: a meter for instruments, and their values as Prometheus text. */
export interface Metrics {
  readonly meter: Meter;
  /** The exposition text, version 0.0.4. */
  serialize(): Promise<string>;
  shutdown(): Promise<void>;
}

/** The receiver of the spans of syncs and requests. */
export interface Tracing {
  readonly tracer: Tracer;
  readonly enabled: boolean;
  /** Flushes pending spans, for at most two seconds, and unregisters OpenTelemetry's globals. Never rejects. */
  shutdown(): Promise<void>;
}
