import type { Meter, Tracer } from '@opentelemetry/api';

/** The process's metrics: a meter to make instruments from, and their state as Prometheus' text. */
export interface Metrics {
  readonly meter: Meter;
  /** The exposition text, version 0.0.4. */
  serialize(): Promise<string>;
  shutdown(): Promise<void>;
}

export interface Tracing {
  readonly tracer: Tracer;
  readonly enabled: boolean;
  /**
   * Sends what is still held back, for at most two seconds, and lets others be OpenTelemetry's globals. Never
   * rejects.
   */
  shutdown(): Promise<void>;
}
